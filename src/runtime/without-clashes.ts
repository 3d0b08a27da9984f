import type { Diagnostic, LocatedDefinition, OperatorDefinition } from '../definition/index.ts';
import { gvkKey } from '../util/gvk.ts';
import { bringsCrd } from './crd/index.ts';

/** Whatever holds a definition. */
interface Candidate {
  readonly located: LocatedDefinition;
}

/** What two definitions cannot share, and where the one that comes too late says that it wants it. */
interface Claim {
  readonly what: string;
  readonly path: string;
  /** Equal for two definitions that claim the same. */
  readonly key: string;
  /** A cluster can tell whose it is. */
  readonly isCrd?: boolean;
}

/** Whose a CRD is that two definitions bring: the `first` one's, or whatever the `cluster` says (the label of the CRD that is there). */
export type SameCrd = 'first' | 'cluster';

/**
 * A name, a CRD and the status of a kind belong to one definition: to that which comes first, and a status to that which brings the
 * CRD. The others are refused. Whatever else definitions of one kind (`for`) do, they do beside each other.
 */
export function withoutClashes<Each extends Candidate>(
  definitions: readonly Each[],
  sameCrd: SameCrd,
): {
  readonly accepted: readonly Each[];
  /** Errors, and warnings where the cluster decides. */
  readonly clashes: readonly Diagnostic[];
  /** Whoever is not accepted, and why. */
  readonly lost: ReadonlyMap<Each, Diagnostic>;
} {
  const holders = new Map<string, Each>();
  const accepted = new Set<Each>();
  const clashes: Diagnostic[] = [];
  const losers = new Map<Each, Diagnostic>();
  const isForeign = ({ located }: Candidate) => !bringsCrd(located.definition);
  const inOrder = [
    ...definitions.filter((each) => !isForeign(each)),
    ...definitions.filter(isForeign),
  ];
  for (const candidate of inOrder) {
    const claims = claimsOf(candidate.located.definition);
    const lost = claims.find(({ key }) => holders.has(key));
    const holder = lost && holders.get(lost.key);
    const isOpen = sameCrd === 'cluster' && lost?.isCrd === true;
    if (lost !== undefined && holder !== undefined) {
      const clash = isOpen ? openClash(candidate, holder, lost) : clashOf(candidate, holder, lost);
      clashes.push(clash);
      if (!isOpen) {
        losers.set(candidate, clash);
        continue;
      }
    }
    accepted.add(candidate);
    for (const { key } of claims) if (!holders.has(key)) holders.set(key, candidate);
  }
  return { accepted: definitions.filter((each) => accepted.has(each)), clashes, lost: losers };
}

function claimsOf(definition: OperatorDefinition): readonly Claim[] {
  const { name, kind, status, reporting } = definition;
  const ofName: Claim = {
    what: `The name "${name}"`,
    path: '/metadata/name',
    key: `name ${name}`,
  };
  const { group, kind: word } = kind.gvk;
  const key = `status ${group}/${word}`;
  if (bringsCrd(definition)) {
    const crd = definition.kind.crd.metadata.name;
    const ofCrd: Claim = {
      what: `The kind "${crd}"`,
      path: '/spec/crd',
      key: `crd ${crd}`,
      isCrd: true,
    };
    return [ofName, ofCrd, { ...ofCrd, key }];
  }
  const mapsStatus = Object.keys(status).length > 0;
  const tellsConditions = (reporting?.conditions.length ?? 0) > 0;
  if (!mapsStatus && !tellsConditions) return [ofName];
  const what = `The status of kind "${gvkKey(kind.gvk)}"`;
  return [ofName, { what, path: mapsStatus ? '/spec/status' : '/spec/conditions', key }];
}

function clashOf(
  { located: { source } }: Candidate,
  holder: Candidate,
  { what, path }: Claim,
): Diagnostic {
  const other = holder.located.source;
  const { line } = other.valueAt(path);
  return {
    severity: 'error',
    code: 'duplicate-id',
    message: `${what} is served by another definition already`,
    hint: `The first one is at ${other.file}:${line}`,
    file: source.file,
    ...source.valueAt(path),
    path,
  };
}

/** Both are started; the one that the CRD is not labelled with is refused then. */
function openClash(candidate: Candidate, holder: Candidate, claim: Claim): Diagnostic {
  const { hint = '', ...clash } = clashOf(candidate, holder, claim);
  return {
    ...clash,
    severity: 'warning',
    message: `${claim.what} is served by another definition as well`,
    hint: `The one that its CRD is labelled with keeps it. ${hint}`,
  };
}
