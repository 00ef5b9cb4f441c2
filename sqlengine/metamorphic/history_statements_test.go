package metamorphic_test

import (
	"fmt"
	"slices"
	"strings"
)

// act is one statement. sql is its text for a table; apply does it to the model and tells how many rows the engine must say to have
// changed (-1: not looked at). class is the error that it must end with, which leaves everything as it was.
type act struct {
	sql   func(l layout) string
	apply func(s *state) int64
	class string
	mysql bool
}

func always(sql string) func(layout) string { return func(layout) string { return sql } }

// statement makes a random statement for a state.
func (a *author) statement(s *state) act {
	rows := len(s.rows)
	choice := a.IntN(100)
	if rows > 60 {
		choice = 50 + a.IntN(50)
	}
	switch {
	case rows == 0 || choice < 20:
		return a.insertion(s)
	case choice < 28:
		return a.replacement(s)
	case choice < 34:
		return a.overKey(s)
	case choice < 36:
		return a.failing(s)
	case choice < 56:
		return a.updating(s)
	case choice < 70:
		return a.deleting(s)
	case choice < 72:
		return act{sql: always("TRUNCATE TABLE $t"), apply: func(s *state) int64 {
			s.remove(func(*record) bool { return true })
			return -1
		}}
	case choice < 76:
		rows := a.newRows(6)
		return act{sql: always("INSERT OVERWRITE $t (" + names(plainColumns()) + ") " + valuesOf(rows, plainColumns()...)), apply: func(s *state) int64 {
			s.remove(func(*record) bool { return true })
			s.insert(rows)
			return int64(len(rows))
		}}
	}
	return a.merging(s)
}

func names(columns []int) string {
	return join(columns, ", ", func(c int) string { return historyColumns[c] })
}

func (a *author) insertion(s *state) act {
	switch a.IntN(4) {
	case 0: // of some columns
		rows := a.newRows(5)
		columns := []int{colU, colP, colStruct, colK}
		for i := range rows {
			for c := range rows[i].values {
				if !slices.Contains(columns, c) {
					rows[i].values[c] = null
				}
			}
		}
		return act{sql: always("INSERT INTO $t (" + names(columns) + ") " + valuesOf(rows, columns...)), apply: func(s *state) int64 {
			s.insert(rows)
			return int64(len(rows))
		}}
	case 1: // of the table itself
		c := a.condition(s.columns, true)
		base := a.next
		for i := range s.rows {
			a.next = max(a.next, base+s.rows[i].values[colU].whole)
		}
		all := names(plainColumns()[1:])
		return act{sql: always(fmt.Sprintf("INSERT INTO $t BY NAME SELECT t.u + %d AS u, %s FROM $t t WHERE %s", base, all, c.sql)), apply: func(s *state) int64 {
			var rows []record
			for i := range s.rows {
				if c.eval(&s.rows[i]) == 1 {
					r := record{values: slices.Clone(s.rows[i].values[:colE])}
					r.values[colU] = wholeDatum(base + r.values[colU].whole)
					rows = append(rows, r)
				}
			}
			s.insert(rows)
			return int64(len(rows))
		}}
	case 2: // with evolution
		rows := a.newRows(3)
		for i := range rows {
			rows[i].values = append(rows[i].values, a.value(colE))
		}
		if a.IntN(4) == 0 {
			columns := []int{colE, colU, colV}
			for i := range rows {
				for c := range rows[i].values {
					if !slices.Contains(columns, c) {
						rows[i].values[c] = null
					}
				}
			}
			return act{sql: always("INSERT WITH SCHEMA EVOLUTION INTO $t BY NAME SELECT * FROM (" + valuesOf(rows, columns...) + ") AS s(e, u, v)"), apply: func(s *state) int64 {
				s.evolve()
				s.insert(rows)
				return int64(len(rows))
			}}
		}
	}
	rows := a.newRows(8)
	return act{sql: always("INSERT INTO $t (" + names(plainColumns()) + ") " + valuesOf(rows, plainColumns()...)), apply: func(s *state) int64 {
		s.insert(rows)
		return int64(len(rows))
	}}
}

// evolve adds the column e.
func (s *state) evolve() {
	if s.columns == numColumns {
		return
	}
	s.columns = numColumns
	for i, line := range s.changes { // of statements before in the same commit
		at := strings.LastIndex(line, ",")
		s.changes[i] = line[:at] + ",null" + line[at:]
	}
	for i := range s.rows {
		s.rows[i].values = append(slices.Clip(s.rows[i].values), null)
	}
}

// replacement is INSERT ... REPLACE in its forms, and what overwrites partitions where the layout has them.
func (a *author) replacement(s *state) act {
	rows := a.newRows(4)
	into := "INSERT INTO $t AS t (" + names(plainColumns()) + ") "
	list := valuesOf(rows, plainColumns()...)
	source := "(SELECT * FROM (" + list + ") AS x(" + names(plainColumns()) + ")) AS s"
	replace := func(goes func(r *record) bool) func(s *state) int64 {
		return func(s *state) int64 {
			s.remove(goes)
			s.insert(rows)
			return int64(len(rows))
		}
	}
	has := func(column int, r *record) bool {
		return slices.ContainsFunc(rows, func(o record) bool {
			x, y := r.values[column], o.values[column]
			return !x.null && !y.null && compareData(column, x, y) == 0
		})
	}
	switch a.IntN(6) {
	case 0: // the partition, or the rows that would be in it
		p := a.value(colP)
		for i := range rows {
			rows[i].values[colP] = p
		}
		same := func(r *record) bool { return r.values[colP].null == p.null && r.values[colP].str == p.str }
		columns := []int{colU, colK, colV, colD, colN, colDate, colTime, colStruct}
		return act{sql: func(l layout) string {
			if slices.Contains(l.partitions, "p") {
				return "INSERT OVERWRITE $t PARTITION (p = " + p.lit + ") (" + names(columns) + ") " + valuesOf(rows, columns...)
			}
			return "INSERT INTO $t (" + names(plainColumns()) + ") REPLACE WHERE p <=> " + p.lit + " " + valuesOf(rows, plainColumns()...)
		}, apply: replace(same)}
	case 1: // the partitions that the rows are in
		same := func(r *record) bool {
			return slices.ContainsFunc(rows, func(o record) bool {
				x, y := r.values[colP], o.values[colP]
				return x.null == y.null && x.str == y.str
			})
		}
		return act{sql: func(l layout) string {
			if slices.Equal(l.partitions, []string{"p"}) {
				return "SET partition_overwrite_mode = dynamic; INSERT OVERWRITE $t (" + names(plainColumns()) + ") " + valuesOf(rows, plainColumns()...) + "; SET partition_overwrite_mode = static"
			}
			return "INSERT INTO $t AS t REPLACE ON t.p <=> s.p BY NAME " + source
		}, apply: replace(same)}
	case 2:
		return act{sql: always("INSERT INTO $t REPLACE USING (k) BY NAME SELECT * FROM (" + list + ") AS x(" + names(plainColumns()) + ")"),
			apply: replace(func(r *record) bool { return has(colK, r) })}
	case 3:
		c := a.leaf(colK, false) // of u alone
		return act{sql: always("INSERT INTO $t AS t REPLACE ON t.k = s.k AND " + c.sql + " BY NAME " + source),
			apply: replace(func(r *record) bool { return has(colK, r) && c.eval(r) == 1 })}
	case 4:
		for i := range rows {
			rows[i].values[colK] = wholeDatum(a.Int64N(4) + 3)
		}
		return act{sql: always(into[:len(into)-1] + " REPLACE WHERE k BETWEEN 3 AND 6 AND k IS NOT NULL " + valuesOf(rows, plainColumns()...)),
			apply: replace(func(r *record) bool { k := r.values[colK]; return !k.null && k.whole >= 3 && k.whole <= 6 })}
	}
	return act{sql: always("INSERT INTO $t REPLACE USING (p, k) BY NAME SELECT * FROM (" + list + ") AS x(" + names(plainColumns()) + ")"),
		apply: replace(func(r *record) bool {
			return slices.ContainsFunc(rows, func(o record) bool {
				x, y := r.values, o.values
				return !x[colP].null && !y[colP].null && x[colP].str == y[colP].str && !x[colK].null && !y[colK].null && x[colK].whole == y[colK].whole
			})
		})}
}

// overKey is MySQL's changes over the key u.
func (a *author) overKey(s *state) act {
	rows := a.newRows(4)
	for i := range rows {
		if len(s.rows) > 0 && a.IntN(2) == 0 {
			u := s.rows[a.IntN(len(s.rows))].values[colU]
			if !slices.ContainsFunc(rows, func(r record) bool { return r.values[colU].whole == u.whole }) {
				rows[i].values[colU] = u
			}
		}
	}
	columns := []int{colU, colK, colV, colP}
	for i := range rows {
		for c := range rows[i].values {
			if !slices.Contains(columns, c) {
				rows[i].values[c] = null
			}
		}
	}
	at := func(s *state, r *record) int {
		return slices.IndexFunc(s.rows, func(o record) bool { return o.values[colU].whole == r.values[colU].whole })
	}
	if a.IntN(2) == 0 {
		return act{mysql: true, sql: always("REPLACE INTO $t (" + names(columns) + ") " + valuesOf(rows, columns...)), apply: func(s *state) int64 {
			affected := int64(0)
			for _, r := range rows {
				affected++
				i := at(s, &r)
				if i < 0 {
					s.insert([]record{r})
					continue
				}
				for len(r.values) < s.columns {
					r.values = append(slices.Clip(r.values), null)
				}
				if r.text(s.columns) != s.rows[i].text(s.columns) {
					affected++
				}
				r.id, r.version = s.rows[i].id, -1
				s.update(i, r)
			}
			return -1
		}}
	}
	return act{mysql: true, sql: always("INSERT INTO $t (" + names(columns) + ") " + valuesOf(rows, columns...) + " ON DUPLICATE KEY UPDATE k = coalesce(k, 0) % 1000 + 1, v = VALUES(p)"), apply: func(s *state) int64 {
		affected := int64(0)
		for _, r := range rows {
			i := at(s, &r)
			if i < 0 {
				s.insert([]record{r})
				affected++
				continue
			}
			k := s.rows[i].values[colK]
			next := s.rows[i].with(colK, wholeDatum(k.whole%1000+1))
			next.values[colV] = r.values[colP]
			if next.text(s.columns) != s.rows[i].text(s.columns) {
				affected += 2
			}
			s.update(i, next)
		}
		return affected
	}}
}

func (a *author) updating(s *state) act {
	list := a.assignments(s.columns, false)
	sql, c := "UPDATE $t AS t SET "+assigned(list), condition{eval: func(*record) truth { return 1 }}
	if a.IntN(8) > 0 {
		c = a.condition(s.columns, true)
		sql += " WHERE " + c.sql
	}
	return act{sql: always(sql), apply: func(s *state) (n int64) {
		for i := range s.rows {
			if c.eval(&s.rows[i]) == 1 {
				s.update(i, changedBy(list, s.rows[i], nil))
				n++
			}
		}
		return n
	}}
}

func (a *author) deleting(s *state) act {
	c := a.condition(s.columns, true)
	sql := "DELETE FROM $t AS t WHERE " + c.sql
	if a.IntN(12) == 0 {
		sql, c = "DELETE FROM $t", condition{eval: func(*record) truth { return 1 }}
	}
	return act{sql: always(sql), apply: func(s *state) int64 {
		return s.remove(func(r *record) bool { return c.eval(r) == 1 })
	}}
}

// failing is a statement that must leave everything as it was.
func (a *author) failing(s *state) act {
	switch a.IntN(3) {
	case 0:
		return act{sql: always("UPDATE $t SET k = CAST(concat('n', u) AS BIGINT) WHERE u >= 0"), class: "CAST_INVALID_INPUT"}
	case 1:
		return act{sql: always("INSERT INTO $t (u, k) SELECT NULL, 1"), class: "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"}
	}
	u := s.rows[a.IntN(len(s.rows))].values[colU].lit
	return act{sql: always("MERGE INTO $t AS t USING (SELECT explode(array(1, 2)) AS x, " + u + " AS u) AS s ON t.u = s.u WHEN MATCHED THEN UPDATE SET k = s.x"),
		class: "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"}
}

// when is a clause of a MERGE.
type when struct {
	condition *condition
	sets      []assignment
	removes   bool
}

func (w when) holds(r *record) bool { return w.condition == nil || w.condition.eval(r) == 1 }

func (a *author) whens(columns int, source bool) (list []when, sql string) {
	n := a.IntN(3)
	for i := range n {
		var w when
		if i < n-1 || a.IntN(2) == 0 {
			c := a.condition(columns, false)
			w.condition = &c
		}
		text := "WHEN MATCHED"
		if !source {
			text = "WHEN NOT MATCHED BY SOURCE"
		}
		if w.condition != nil {
			text += " AND " + w.condition.sql
		}
		if w.removes = a.IntN(3) == 0; w.removes {
			text += " THEN DELETE"
		} else {
			w.sets = a.assignments(columns, source)
			text += " THEN UPDATE SET " + assigned(w.sets)
		}
		list = append(list, w)
		sql += " " + text
	}
	return list, sql
}

// merging is MERGE. The source has rows with u of the table and of nothing, k, v, p, and nu, the u of a row that it inserts.
func (a *author) merging(s *state) act {
	source := a.newRows(8)
	fresh := make([]datum, len(source))
	usedK := map[string]bool{}
	for i := range source {
		fresh[i] = source[i].values[colU]
		if len(s.rows) > 0 && a.IntN(3) > 0 {
			u := s.rows[a.IntN(len(s.rows))].values[colU]
			if !slices.ContainsFunc(source, func(r record) bool { return r.values[colU].whole == u.whole }) {
				source[i].values[colU] = u
			}
		}
		for usedK[source[i].values[colK].lit] && !source[i].values[colK].null {
			source[i].values[colK] = wholeDatum(source[i].values[colK].whole + 1)
		}
		usedK[source[i].values[colK].lit] = true
	}
	if a.IntN(6) == 0 {
		return a.evolvingMerge(source)
	}
	using := "(SELECT * FROM VALUES " + strings.TrimPrefix(join(source, ", ", func(r record) string {
		i := slices.IndexFunc(source, func(o record) bool { return o.values[colU].whole == r.values[colU].whole })
		return "(" + r.values[colU].lit + "L, CAST(" + r.values[colK].lit + " AS BIGINT), CAST(" + r.values[colV].lit + " AS STRING), CAST(" + r.values[colP].lit + " AS STRING), " + fresh[i].lit + "L)"
	}), " ") + " AS x(u, k, v, p, nu)) AS s"
	equal := func(column int, x, y *record) bool {
		l, r := x.values[column], y.values[column]
		return !l.null && !r.null && compareData(column, l, r) == 0
	}
	extra := a.leaf(s.columns, false)
	joins := []struct {
		sql  string
		hits func(t, s *record) bool
	}{
		{"t.u = s.u", func(t, s *record) bool { return equal(colU, t, s) }},
		{"t.k = s.k", func(t, s *record) bool { return equal(colK, t, s) }},
		{"t.u = s.u AND t.p = s.p", func(t, s *record) bool { return equal(colU, t, s) && equal(colP, t, s) }},
		{"s.u = t.u AND t.p <=> s.p", func(t, s *record) bool {
			l, r := t.values[colP], s.values[colP]
			return equal(colU, t, s) && l.null == r.null && l.str == r.str
		}},
		{"t.u = s.u AND " + extra.sql, func(t, s *record) bool { return equal(colU, t, s) && extra.eval(t) == 1 }},
		{"t.k = s.k AND (" + extra.sql + ")", func(t, s *record) bool { return equal(colK, t, s) && extra.eval(t) == 1 }},
		{"t.u = s.u AND s.k > 3", func(t, s *record) bool { k := s.values[colK]; return equal(colU, t, s) && !k.null && k.whole > 3 }},
	}
	on := joins[a.IntN(len(joins))]
	matched, matchedSQL := a.whens(s.columns, true)
	orphans, orphansSQL := a.whens(s.columns, false)
	var inserts []when
	insertsSQL := ""
	n := a.IntN(3)
	if len(matched)+len(orphans) == 0 {
		n = max(n, 1)
	}
	for i := range n {
		var w when
		insertsSQL += " WHEN NOT MATCHED"
		if i < n-1 || a.IntN(2) == 0 {
			w.condition = &condition{"s.k >= 4", func(r *record) truth {
				if k := r.values[colK]; !k.null {
					return truthOf(k.whole >= 4)
				}
				return 0
			}}
			insertsSQL += " AND " + w.condition.sql
		}
		insertsSQL += " THEN INSERT (u, p, v, k) VALUES (s.nu, s.p, s.v, s.k)"
		inserts = append(inserts, w)
	}
	return act{sql: always("MERGE INTO $t AS t USING " + using + " ON " + on.sql + matchedSQL + insertsSQL + orphansSQL), apply: func(s *state) (n int64) {
		met := make([]bool, len(source))
		var kept []record
		for i := range s.rows {
			r := s.rows[i]
			from := -1
			for k := range source {
				if on.hits(&r, &source[k]) {
					met[k] = true
					from = k
				}
			}
			list, other := orphans, (*record)(nil)
			if from >= 0 {
				list, other = matched, &source[from]
			}
			at := slices.IndexFunc(list, func(w when) bool { return w.holds(&r) })
			if at < 0 {
				kept = append(kept, r)
				continue
			}
			n++
			if list[at].removes {
				s.note("delete", &r)
				continue
			}
			s.update(i, changedBy(list[at].sets, r, other))
			kept = append(kept, s.rows[i])
		}
		s.rows = kept
		for k := range source {
			if met[k] || !slices.ContainsFunc(inserts, func(w when) bool { return w.holds(&source[k]) }) {
				continue
			}
			r := record{values: slices.Repeat([]datum{null}, s.columns)}
			r.values[colU] = fresh[k]
			r.values[colP], r.values[colV], r.values[colK] = source[k].values[colP], source[k].values[colV], source[k].values[colK]
			s.insert([]record{r})
			n++
		}
		return n
	}}
}

// evolvingMerge brings the column e.
func (a *author) evolvingMerge(source []record) act {
	for i := range source {
		source[i].values = append(source[i].values, a.value(colE))
	}
	columns := []int{colU, colV, colE, colK}
	using := "(SELECT * FROM (" + valuesOf(source, columns...) + ") AS x(u, v, e, k)) AS s"
	return act{sql: always("MERGE WITH SCHEMA EVOLUTION INTO $t AS t USING " + using + " ON t.u = s.u WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"), apply: func(s *state) int64 {
		s.evolve()
		for k := range source {
			i := slices.IndexFunc(s.rows, func(r record) bool { return r.values[colU].whole == source[k].values[colU].whole })
			r := record{values: slices.Repeat([]datum{null}, s.columns)}
			if i >= 0 {
				r = record{values: slices.Clone(s.rows[i].values), id: s.rows[i].id, version: -1}
			}
			for _, c := range columns {
				r.values[c] = source[k].values[c]
			}
			if i >= 0 {
				s.update(i, r)
			} else {
				s.insert([]record{r})
			}
		}
		return int64(len(source))
	}}
}
