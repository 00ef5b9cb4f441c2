// Package crash holds tests alone: what is left of a table when the writer dies at any of its calls to the store, when the store
// fails, delays, repeats or does not answer, and when other processes and other products write meanwhile. The promise is always the
// same: a statement is done or not done, the error says which, and nothing that was said to be done is ever lost.
//
// A crash is tried in two ways. Most tries stop the statement inside this process: the call never returns, and neither does any
// after it, so that the folder stays as the crash left it; this takes milliseconds. Some tries kill a process of their own, which the
// test binary is for that while. With DELTASQL_CRASH_TESTS=long every try kills a process, and the tests of many processes write
// as much as a day's work does.
package crash
