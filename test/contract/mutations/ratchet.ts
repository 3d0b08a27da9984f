import { readFileSync } from 'node:fs';

/** The number of mutations of each kind that may be answered differently, for the default seed. */
export type AllowedDifferences = Readonly<Record<string, number>>;

/** Manifests that do not exist yet; changes of stored objects. */
export type MutationGroup = 'manifests' | 'updates';

export const defaultSeed = 1;
/** Mutations of each kind. */
export const defaultCounts: Readonly<Record<MutationGroup, number>> = {
  manifests: 200,
  updates: 100,
};

/** Written with `HOMEOSTAT_UPDATE_MUTATIONS=true`; a kind may get better, never worse. */
export const allowedFile = new URL('allowed-differences.json', import.meta.url);

export function readAllowed(): Readonly<Record<MutationGroup, AllowedDifferences>> {
  return JSON.parse(readFileSync(allowedFile, 'utf8'));
}
