// Generated from docs/openapi.json by `make docs`.
export {};
