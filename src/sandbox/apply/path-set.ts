import { compareElements, type Path, type PathElement } from './path-element.ts';

/** A set of paths as a tree: the members at this node, and the children. Immutable after construction. */
export interface PathSet {
  readonly members: ReadonlySet<PathElement>;
  readonly children: ReadonlyMap<PathElement, PathSet>;
}

/** A path set under construction. */
export interface MutablePathSet {
  readonly members: Set<PathElement>;
  readonly children: Map<PathElement, MutablePathSet>;
}

export const emptyPathSet: PathSet = { members: new Set(), children: new Map() };

export function mutablePathSet(): MutablePathSet {
  return { members: new Set(), children: new Map() };
}

/** Adds a path; ignores the empty path. */
export function insertPath(set: MutablePathSet, path: Path): void {
  const last = path.at(-1);
  if (last === undefined) return;
  let node = set;
  for (const step of path.slice(0, -1)) {
    let child = node.children.get(step);
    if (child === undefined) {
      child = mutablePathSet();
      node.children.set(step, child);
    }
    node = child;
  }
  node.members.add(last);
}

export function pathSetOf(paths: Iterable<Path>): PathSet {
  const set = mutablePathSet();
  for (const path of paths) insertPath(set, path);
  return set;
}

export function isEmptySet(set: PathSet): boolean {
  if (set.members.size > 0) return false;
  for (const child of set.children.values()) if (!isEmptySet(child)) return false;
  return true;
}

export function union(a: PathSet, b: PathSet): PathSet {
  if (b.members.size === 0 && b.children.size === 0) return a;
  if (a.members.size === 0 && a.children.size === 0) return b;
  const children = new Map(a.children);
  for (const [step, child] of b.children) {
    const other = children.get(step);
    children.set(step, other === undefined ? child : union(other, child));
  }
  return { members: joined(a.members, b.members), children };
}

export function intersection(a: PathSet, b: PathSet): PathSet {
  const children = new Map<PathElement, PathSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    if (other !== undefined) setUnlessEmpty(children, step, intersection(child, other));
  }
  return { members: filterSteps(a.members, (step) => b.members.has(step)), children };
}

/** Node by node: removing a child keeps the parent, and the other way round. */
export function difference(a: PathSet, b: PathSet): PathSet {
  const children = new Map<PathElement, PathSet>();
  for (const [step, child] of a.children) {
    const other = b.children.get(step);
    setUnlessEmpty(children, step, other === undefined ? child : difference(child, other));
  }
  return { members: filterSteps(a.members, (step) => !b.members.has(step)), children };
}

/** Also removes everything below the members of `b`. */
export function differenceWithChildren(a: PathSet, b: PathSet): PathSet {
  const children = new Map<PathElement, PathSet>();
  for (const [step, child] of a.children) {
    if (b.members.has(step)) continue;
    const other = b.children.get(step);
    const rest = other === undefined ? child : differenceWithChildren(child, other);
    setUnlessEmpty(children, step, rest);
  }
  return { members: filterSteps(a.members, (step) => !b.members.has(step)), children };
}

type Steps = ReadonlySet<PathElement>;

function joined(a: Steps, b: Steps): Steps {
  const all = new Set(a);
  for (const step of b) all.add(step);
  return all;
}

function filterSteps(steps: Steps, isKept: (step: PathElement) => boolean): Steps {
  const some = new Set<PathElement>();
  for (const step of steps) if (isKept(step)) some.add(step);
  return some;
}

function setUnlessEmpty(into: Map<PathElement, PathSet>, step: PathElement, set: PathSet): void {
  if (!isEmptySet(set)) into.set(step, set);
}

/** All paths in the server's order: the members of a node before what lies below it. */
export function* pathsOf(set: PathSet, prefix: Path = []): Generator<Path> {
  for (const step of [...set.members].sort(compareElements)) yield [...prefix, step];
  for (const step of [...set.children.keys()].sort(compareElements)) {
    yield* pathsOf(set.children.get(step) ?? emptyPathSet, [...prefix, step]);
  }
}
