package wire

import (
	"context"
	"errors"
	"strings"

	"deltasql/protocol"
)

// fault is an error as an ERR packet carries it.
type fault struct {
	errno   uint16
	state   string
	message string
}

// mysqlStates are MySQL's SQLSTATEs of the numbers in use; every other number has HY000.
var mysqlStates = map[int]string{
	1008: "HY000", 1022: "23000", 1040: "08004", 1043: "08S01", 1044: "42000", 1045: "28000", 1046: "3D000", 1047: "08S01", 1048: "23000",
	1049: "42000", 1050: "42S01", 1051: "42S02", 1052: "23000", 1053: "08S01", 1054: "42S22", 1055: "42000", 1056: "42000", 1057: "42000",
	1058: "21S01", 1059: "42000", 1060: "42S21", 1061: "42000", 1062: "23000", 1063: "42000", 1064: "42000", 1065: "42000", 1066: "42000",
	1067: "42000", 1068: "42000", 1070: "42000", 1071: "42000", 1072: "42000", 1074: "42000", 1080: "08S01", 1090: "42000", 1091: "42000",
	1101: "42000", 1102: "42000", 1103: "42000", 1104: "42000", 1109: "42S02", 1110: "42000", 1113: "42000", 1115: "42000", 1118: "42000",
	1120: "42000", 1136: "21S01", 1138: "22004", 1139: "42000", 1140: "42000", 1141: "42000", 1142: "42000", 1143: "42000", 1146: "42S02",
	1147: "42000", 1148: "42000", 1149: "42000", 1153: "08S01", 1158: "08S01", 1159: "08S01", 1160: "08S01", 1161: "08S01", 1166: "42000",
	1169: "23000", 1171: "42000", 1172: "42000", 1176: "42000", 1179: "25000", 1184: "08S01", 1203: "42000", 1213: "40001", 1216: "23000",
	1217: "23000", 1222: "21000", 1226: "42000", 1227: "42000", 1230: "42000", 1231: "42000", 1232: "42000", 1234: "42000", 1235: "42000",
	1239: "42000", 1241: "21000", 1242: "21000", 1247: "42S22", 1248: "42000", 1250: "42000", 1251: "08004", 1252: "42000", 1253: "42000",
	1261: "01000", 1262: "01000", 1263: "22004", 1264: "22003", 1265: "01000", 1280: "42000", 1281: "42000", 1286: "42000", 1292: "22007",
	1303: "2F003", 1304: "42000", 1305: "42000", 1317: "70100", 1318: "42000", 1319: "42000", 1321: "2F005", 1322: "24000", 1324: "42000",
	1325: "24000", 1326: "24000", 1327: "42000", 1329: "02000", 1330: "42000", 1331: "42000", 1332: "42000", 1333: "42000", 1336: "0A000",
	1365: "22012", 1366: "HY000", 1367: "22007", 1370: "42000", 1397: "XAE04", 1406: "22001", 1411: "HY000", 1414: "42000", 1425: "42000",
	1426: "42000", 1427: "42000", 1437: "42000", 1438: "42000", 1439: "42000", 1440: "42000", 1441: "22008", 1451: "23000", 1452: "23000",
	1458: "42000", 1460: "42000", 1461: "42000", 1463: "42000", 1582: "42000", 1583: "42000", 1584: "42000", 1586: "23000", 1630: "42000",
	1641: "42000", 1644: "45000", 1687: "42000", 1690: "22003", 1792: "25006", 3020: "2201E", 3140: "22032", 3141: "22032", 3143: "42000", 3144: "22032",
	3159: "08004", 4031: "08S01",
}

func stateOf(errno int) string {
	if state, ok := mysqlStates[errno]; ok {
		return state
	}
	return "HY000"
}

// maxMessage bounds the text of an ERR packet.
const maxMessage = 8 << 10

// faultOf maps an error: the number by its class, MySQL's SQLSTATE by the number. The text leads with the class and its own SQLSTATE,
// so that nothing is lost. A number without a meaning of its own keeps the class's SQLSTATE.
func faultOf(err error) fault {
	var ready fault
	if errors.As(err, &ready) {
		return ready
	}
	var known *protocol.Error
	if !errors.As(err, &known) {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return protocolFault(1317, "the statement was cancelled")
		}
		known = protocol.NewError(protocol.ClassInternal, "%s", err.Error())
	}
	info, ok := protocol.InfoOf(known.Class)
	if !ok {
		info = protocol.ClassInfo{SQLState: "HY000", Errno: 1105}
	}
	number := known.MySQLNumber()
	state := stateOf(number)
	if number == 1105 {
		state = info.SQLState
	}
	text := "[" + string(known.Class) + "] (" + info.SQLState + ") " + known.Text()
	if known.Hint != "" {
		text += "\nhint: " + known.Hint
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "..."
	}
	return fault{uint16(number), state, text}
}

// Error lets a fault of the protocol itself travel as an error.
func (f fault) Error() string { return f.message }

// protocolFault is a fault of the protocol itself, under MySQL's own number.
func protocolFault(errno int, message string) fault {
	return fault{uint16(errno), stateOf(errno), message}
}
