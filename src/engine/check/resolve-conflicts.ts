import {
  type Diagnostic,
  definesCrd,
  type LocatedDefinition,
  type OperatorDefinition,
  statusKindOf,
} from '#definition';
import { gvkKey } from '#util/gvk.ts';

/** Anything with a definition. */
interface Candidate {
  readonly located: LocatedDefinition;
}

/** A name, CRD or status that only one definition can own; `path` is where the rejected one declares it. */
interface Claim {
  readonly what: string;
  readonly path: string;
  /** Equal for two definitions with the same claim. */
  readonly key: string;
}

/**
 * Accepts one owner for each name, CRD and status of a kind: the first definition; for a status, the one that declares the CRD. Other
 * claims are rejected. Definitions of one kind (`for`) without such claims run side by side.
 */
export function resolveConflicts<Each extends Candidate>(
  definitions: readonly Each[],
): { readonly accepted: readonly Each[]; readonly conflicts: readonly Diagnostic[] } {
  const owners = new Map<string, Each>();
  const accepted = new Set<Each>();
  const conflicts: Diagnostic[] = [];
  const isForeign = ({ located }: Candidate) => !definesCrd(located.definition);
  const inOrder = [
    ...definitions.filter((each) => !isForeign(each)),
    ...definitions.filter(isForeign),
  ];
  for (const candidate of inOrder) {
    const claims = claimsOf(candidate.located.definition);
    const lost = claims.find(({ key }) => owners.has(key));
    const owner = lost && owners.get(lost.key);
    if (lost !== undefined && owner !== undefined) {
      conflicts.push(conflictDiagnostic(candidate, owner, lost));
      continue;
    }
    accepted.add(candidate);
    for (const { key } of claims) owners.set(key, candidate);
  }
  return { accepted: definitions.filter((each) => accepted.has(each)), conflicts };
}

/** What only one definition can have: two definitions with an equal key are in conflict. */
export function conflictKeysOf(definition: OperatorDefinition): readonly string[] {
  return claimsOf(definition).map(({ key }) => key);
}

function claimsOf(definition: OperatorDefinition): readonly Claim[] {
  const { name, kind, status } = definition;
  const ofName: Claim = {
    what: `The name "${name}"`,
    path: '/metadata/name',
    key: `name ${name}`,
  };
  const claimed = statusKindOf(definition);
  if (claimed === undefined) return [ofName];
  const key = `status ${claimed}`;
  if (definesCrd(definition)) {
    const crd = definition.kind.crd.metadata.name;
    const ofCrd: Claim = {
      what: `The kind "${crd}"`,
      path: '/spec/crd',
      key: `crd ${crd}`,
    };
    return [ofName, ofCrd, { ...ofCrd, key }];
  }
  const mapsStatus = Object.keys(status).length > 0;
  const what = `The status of kind "${gvkKey(kind.gvk)}"`;
  return [ofName, { what, path: mapsStatus ? '/spec/status' : '/spec/conditions', key }];
}

function conflictDiagnostic(
  { located: { source } }: Candidate,
  owner: Candidate,
  { what, path }: Claim,
): Diagnostic {
  const other = owner.located.source;
  const { line } = other.valueAt(path);
  return {
    severity: 'error',
    code: 'duplicate-id',
    message: `${what} is already used by another definition`,
    hint: `The first one is at ${other.file}:${line}`,
    file: source.file,
    ...source.valueAt(path),
    path,
  };
}
