import type { Reference, ReferenceRoot } from './leaf.ts';

/** A path in the input that a value may come from. Lists are transparent. */
export interface Origin {
  /** `root`: the input of the expression, which is the resource with `children`, `reads`, ... */
  readonly root: ReferenceRoot | 'root';
  readonly path: readonly string[];
  readonly offset: number;
  readonly stepOffsets: readonly number[];
  /** See {@link Reference.mixedFrom}. */
  readonly mixedFrom?: number;
}

/** Roots of the input that are not fields of the resource. */
const rootNames = ['children', 'observed', 'reads', 'vars'] as const;

/** Collects references; see {@link Reference}. */
interface ReferenceRecorder {
  /** Starts an origin. If it is neither extended nor used, `finish` records it. */
  begin(origin: Origin): Origin;
  /** Extends an origin by one name. */
  step(origin: Origin, name: string, offset: number): Origin;
  /** Marks an origin as one of several possible origins of a value. */
  mix(origin: Origin): Origin;
  /** Records that the value at the origin is used. `isReduced`: see {@link Reference.isReduced}. */
  record(origin: Origin, exact: boolean, isReduced?: boolean): void;
  /** `$now()`, `$randomString()` and the like. */
  recordSource(
    root: 'now' | 'random',
    offset: number,
    how: Pick<Reference, 'isObservedDefault' | 'isCompared' | 'isNearComparison'>,
  ): void;
  /** Records that anything may be read. */
  recordEverything(offset: number): void;
  /** The references, by offset. */
  finish(): readonly Reference[];
}

/** Creates a recorder for one expression. */
export function createReferenceRecorder(): ReferenceRecorder {
  const open = new Set<Origin>();
  const references = new Map<string, Reference>();

  function add(reference: Reference): void {
    const key = [reference.root, reference.offset, ...reference.path].join('\0');
    const known = references.get(key);
    references.set(key, known === undefined ? reference : combined(known, reference));
  }

  function begin(origin: Origin): Origin {
    open.add(origin);
    return origin;
  }

  function record(origin: Origin, exact: boolean, isReduced = false): void {
    open.delete(origin);
    const { root, path, offset, stepOffsets, mixedFrom } = origin;
    if (root === 'root') {
      recordEverything(offset);
    } else {
      const isWhole = root === 'resource' && path.length === 0;
      const isMixed = mixedFrom !== undefined && mixedFrom < path.length;
      add({
        root,
        path,
        exact: exact && !isWhole,
        offset,
        stepOffsets,
        ...(isMixed ? { mixedFrom } : {}),
        ...(isReduced ? { isReduced } : {}),
      });
    }
  }

  function recordEverything(offset: number): void {
    for (const root of ['resource', ...rootNames] as const) {
      add({ root, path: [], exact: false, offset, stepOffsets: [] });
    }
  }

  return {
    begin,
    step(origin, name, offset) {
      open.delete(origin);
      return begin(oneStep(origin, name, offset));
    },
    mix(origin) {
      if (origin.mixedFrom !== undefined || origin.root === 'root') return origin;
      open.delete(origin);
      return begin({ ...origin, mixedFrom: origin.path.length });
    },
    record,
    recordSource(root, offset, how) {
      add({ root, path: [], exact: true, offset, stepOffsets: [], ...how });
    },
    recordEverything,
    finish() {
      for (const origin of [...open]) if (origin.root !== 'root') record(origin, true);
      return [...references.values()].toSorted((a, b) => a.offset - b.offset);
    },
  };
}

/** Two uses of one value. */
function combined(known: Reference, other: Reference): Reference {
  const { isReduced, ...rest } = known.exact && !other.exact ? other : known;
  return { ...rest, ...(known.isReduced && other.isReduced ? { isReduced } : {}) };
}

function oneStep(origin: Origin, name: string, offset: number): Origin {
  const { root, path, stepOffsets } = origin;
  if (root !== 'root') {
    return { ...origin, path: [...path, name], stepOffsets: [...stepOffsets, offset] };
  }
  // The implicit input has no offset; `$$.spec` starts at `$$`.
  const start = origin.offset < 0 ? offset : origin.offset;
  const beside = rootNames.find((each) => each === name);
  return beside === undefined
    ? { root: 'resource', path: [name], offset: start, stepOffsets: [offset] }
    : { root: beside, path: [], offset: start, stepOffsets: [] };
}
