/** A server may not be connected to. The message does not quote what its name resolves to. */
export class ServerNotAllowedError extends Error {}
