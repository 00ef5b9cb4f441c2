// Functions of values that DuckDB has none for:
//
//	delta_sha2(BLOB, bits INTEGER) -> VARCHAR  SHA-224, SHA-384 and SHA-512 in hexadecimal digits
//	delta_inet6_aton(VARCHAR)      -> BLOB     an IPv4 or IPv6 address as 4 or 16 bytes
//	delta_inet6_ntoa(BLOB)         -> VARCHAR  the text of one
//	delta_json_merge(a VARCHAR, b VARCHAR) -> VARCHAR  two valid JSON documents joined with all their values
#ifndef DELTASQL_DIGEST_H
#define DELTASQL_DIGEST_H

// The functions' addresses, for registration.
void *deltasql_delta_sha2(void);
void *deltasql_delta_inet6_aton(void);
void *deltasql_delta_inet6_ntoa(void);
void *deltasql_delta_json_merge(void);

#endif
