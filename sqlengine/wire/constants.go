package wire

// Capabilities, as both sides announce them in the handshake.
const (
	clientLongPassword     uint32 = 1 << 0
	clientFoundRows        uint32 = 1 << 1
	clientLongFlag         uint32 = 1 << 2
	clientConnectWithDB    uint32 = 1 << 3
	clientNoSchema         uint32 = 1 << 4
	clientODBC             uint32 = 1 << 6
	clientLocalFiles       uint32 = 1 << 7
	clientIgnoreSpace      uint32 = 1 << 8
	clientProtocol41       uint32 = 1 << 9
	clientInteractive      uint32 = 1 << 10
	clientSSL              uint32 = 1 << 11
	clientIgnoreSigpipe    uint32 = 1 << 12
	clientTransactions     uint32 = 1 << 13
	clientReserved         uint32 = 1 << 14
	clientSecureConnection uint32 = 1 << 15
	clientMultiStatements  uint32 = 1 << 16
	clientMultiResults     uint32 = 1 << 17
	clientPSMultiResults   uint32 = 1 << 18
	clientPluginAuth       uint32 = 1 << 19
	clientConnectAttrs     uint32 = 1 << 20
	clientPluginAuthLenenc uint32 = 1 << 21
	clientSessionTrack     uint32 = 1 << 23
	clientDeprecateEOF     uint32 = 1 << 24
)

// serverCapabilities is what every server of ours offers; TLS comes on top where there is a certificate. Compression is not
// offered, so no client asks for it.
const serverCapabilities = clientLongPassword | clientFoundRows | clientLongFlag | clientConnectWithDB | clientNoSchema | clientODBC |
	clientLocalFiles | clientIgnoreSpace | clientProtocol41 | clientInteractive | clientIgnoreSigpipe | clientTransactions | clientReserved |
	clientSecureConnection | clientMultiStatements | clientMultiResults | clientPSMultiResults | clientPluginAuth | clientConnectAttrs |
	clientPluginAuthLenenc | clientSessionTrack | clientDeprecateEOF

// Commands.
const (
	comQuit             = 0x01
	comInitDB           = 0x02
	comQuery            = 0x03
	comFieldList        = 0x04
	comStatistics       = 0x09
	comProcessInfo      = 0x0a
	comProcessKill      = 0x0c
	comDebug            = 0x0d
	comPing             = 0x0e
	comChangeUser       = 0x11
	comStmtPrepare      = 0x16
	comStmtExecute      = 0x17
	comStmtSendLongData = 0x18
	comStmtClose        = 0x19
	comStmtReset        = 0x1a
	comSetOption        = 0x1b
	comStmtFetch        = 0x1c
	comResetConnection  = 0x1f
)

// commandNames are how SHOW PROCESSLIST calls commands.
var commandNames = map[byte]string{
	comQuit: "Quit", comInitDB: "Init DB", comQuery: "Query", comFieldList: "Field List", comStatistics: "Statistics",
	comProcessInfo: "Processlist", comProcessKill: "Kill", comDebug: "Debug", comPing: "Ping", comChangeUser: "Change user",
	comStmtPrepare: "Prepare", comStmtExecute: "Execute", comStmtSendLongData: "Long Data", comStmtClose: "Close stmt",
	comStmtReset: "Reset stmt", comSetOption: "Set option", comStmtFetch: "Fetch", comResetConnection: "Reset Connection",
}

// Types of columns and parameters.
const (
	typeDecimal    = 0x00
	typeTiny       = 0x01
	typeShort      = 0x02
	typeLong       = 0x03
	typeFloat      = 0x04
	typeDouble     = 0x05
	typeNull       = 0x06
	typeTimestamp  = 0x07
	typeLongLong   = 0x08
	typeInt24      = 0x09
	typeDate       = 0x0a
	typeTime       = 0x0b
	typeDatetime   = 0x0c
	typeYear       = 0x0d
	typeVarchar    = 0x0f
	typeBit        = 0x10
	typeJSON       = 0xf5
	typeNewDecimal = 0xf6
	typeEnum       = 0xf7
	typeSet        = 0xf8
	typeTinyBlob   = 0xf9
	typeMediumBlob = 0xfa
	typeLongBlob   = 0xfb
	typeBlob       = 0xfc
	typeVarString  = 0xfd
	typeString     = 0xfe
	typeGeometry   = 0xff
)

// Flags of a column.
const (
	flagNotNull  uint16 = 1 << 0
	flagBlob     uint16 = 1 << 4
	flagUnsigned uint16 = 1 << 5
	flagBinary   uint16 = 1 << 7
)

// Status flags of OK and EOF packets.
const (
	statusInTransaction      uint16 = 1 << 0
	statusAutocommit         uint16 = 1 << 1
	statusMoreResults        uint16 = 1 << 3
	statusCursorExists       uint16 = 1 << 6
	statusLastRowSent        uint16 = 1 << 7
	statusNoBackslashEscapes uint16 = 1 << 9
	statusSessionChanged     uint16 = 1 << 14
)

// Collation numbers: what text and what everything else is sent in.
const (
	charsetUTF8MB4 = 255 // utf8mb4_0900_ai_ci
	charsetBinary  = 63
)

// notFixed is the number of decimals of a column whose values have as many as they need.
const notFixed = 31
