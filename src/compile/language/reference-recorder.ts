import type { Reference, ReferenceRoot } from './leaf.ts';

/** A place in what an expression sees that a value may come from; lists are transparent. */
export interface Origin {
  /** `root`: the input of the expression, the resource with `children`, `reads`, ... beside it. */
  readonly root: ReferenceRoot | 'root';
  readonly path: readonly string[];
  readonly offset: number;
  readonly stepOffsets: readonly number[];
  /** See {@link Reference.mixedFrom}. */
  readonly mixedFrom?: number;
}

/** Roots that stand beside the resource's fields in the input. */
const besideResource = ['children', 'observed', 'reads', 'vars'] as const;

/** Collects what is read; see {@link Reference}. */
export interface ReferenceRecorder {
  /** Makes an origin known; if nothing follows or uses it, it is recorded in the end. */
  begin(origin: Origin): Origin;
  /** The origin one name further. */
  step(origin: Origin, name: string, offset: number): Origin;
  /** The origin as one of several that a value may come from, new values among them. */
  mix(origin: Origin): Origin;
  /** The value at the origin is used. */
  record(origin: Origin, exact: boolean): void;
  /** `$now()`, `$randomString()` and the like. */
  recordSource(root: 'now' | 'random', offset: number, behindObserved: boolean): void;
  /** Anything may be read. */
  recordEverything(offset: number): void;
  /** What was recorded, by offset. */
  finish(): readonly Reference[];
}

/** Creates a recorder for one expression. */
export function createReferenceRecorder(): ReferenceRecorder {
  const open = new Set<Origin>();
  const references = new Map<string, Reference>();

  function add(reference: Reference): void {
    const key = [reference.root, reference.offset, ...reference.path].join('\0');
    const known = references.get(key);
    if (known === undefined || (known.exact && !reference.exact)) references.set(key, reference);
  }

  function begin(origin: Origin): Origin {
    open.add(origin);
    return origin;
  }

  function record(origin: Origin, exact: boolean): void {
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
      });
    }
  }

  function recordEverything(offset: number): void {
    for (const root of ['resource', ...besideResource] as const) {
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
    recordSource(root, offset, behindObserved) {
      const source = { root, path: [], exact: true, offset, stepOffsets: [] };
      add(behindObserved ? { ...source, behindObserved } : source);
    },
    recordEverything,
    finish() {
      for (const origin of [...open]) if (origin.root !== 'root') record(origin, true);
      return [...references.values()].toSorted((a, b) => a.offset - b.offset);
    },
  };
}

function oneStep(origin: Origin, name: string, offset: number): Origin {
  const { root, path, stepOffsets } = origin;
  if (root !== 'root') {
    return { ...origin, path: [...path, name], stepOffsets: [...stepOffsets, offset] };
  }
  // The input itself begins nowhere unless it was written: `$$.spec` begins at `$$`.
  const start = origin.offset < 0 ? offset : origin.offset;
  const beside = besideResource.find((each) => each === name);
  return beside === undefined
    ? { root: 'resource', path: [name], offset: start, stepOffsets: [offset] }
    : { root: beside, path: [], offset: start, stepOffsets: [] };
}
