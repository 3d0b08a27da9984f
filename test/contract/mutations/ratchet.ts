import { readFileSync } from 'node:fs';

/** The number of mutations of each kind that may be answered differently, for the default seed. */
export type AllowedDifferences = Readonly<Record<string, number>>;

export const defaultSeed = 1;
/** Mutations of each kind. */
export const defaultCount = 200;

/** Written with `HOMEOSTAT_UPDATE_MUTATIONS=true`; a kind may get better, never worse. */
export const allowedFile = new URL('allowed-differences.json', import.meta.url);

export function readAllowed(): AllowedDifferences {
  return JSON.parse(readFileSync(allowedFile, 'utf8'));
}
