import type { Logger } from '../telemetry/index.ts';

const ignore = () => undefined;

/** Drops every line. */
export const silentLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLogger,
};
