import type { FieldPath } from '../../compile/index.ts';
import type { Clock } from '../../util/clock.ts';
import type { LabelSelector } from '../../util/label-selector.ts';

/** How a resource depends on a topic, and so which changes there concern it. */
export type Dependency = ObjectDependency | SelectionDependency | KindDependency;

/** On one object. */
export interface ObjectDependency {
  readonly kind: 'object';
  /** It is to be a child and is not the resource's own (yet): whatever the children's watch tells of it counts. */
  readonly isWanted: boolean;
  /** Paths whose change counts. Coming, going and replacement always do. Undefined: it is not watched by name. */
  readonly paths: readonly FieldPath[] | undefined;
  /** The resource had to do without: any news of the informer's state counts. */
  readonly isUnsynced: boolean;
}

/** On what a selector selects: objects of a list, or namespaces. */
export interface SelectionDependency {
  readonly kind: 'selection';
  readonly selector: LabelSelector;
  /** Does what is in this namespace count? */
  readonly has: (namespace: string) => boolean;
}

/** On the children of a kind that only its inventory names. It lasts until the resource says otherwise, not for one pass. */
export interface KindDependency {
  readonly kind: 'kind';
}

/** Something of which no resource depends any more ends after this time: names and kinds come and go with edits. */
const lingerMs = 60_000;

export interface DependencyIndexOptions {
  readonly clock: Clock;
  /**
   * Called when no resource depends on a topic any more. What it returns is called after a while, unless a resource depends on it again.
   * @default nothing is to be ended
   */
  readonly onUnused?: (topic: string) => (() => void) | undefined;
}

/**
 * Which resources depend on what: topics (an object, a selection, a kind) and the resources that look at them, with how they do. The one
 * place that event handlers ask and that passes tell. All that a resource depends on goes with it.
 */
export class DependencyIndex {
  readonly #options: DependencyIndexOptions;
  readonly #byTopic = new Map<string, Map<string, Dependency>>();
  readonly #byKey = new Map<string, Set<string>>();
  /** By topic, how to keep what will end. */
  readonly #lingering = new Map<string, () => void>();

  constructor(options: DependencyIndexOptions) {
    this.#options = options;
  }

  /** Registers how a resource depends on a topic, or changes that. */
  set(topic: string, key: string, dependency: Dependency): void {
    this.#keep(topic);
    entryOf(this.#byTopic, topic, () => new Map<string, Dependency>()).set(key, dependency);
    entryOf(this.#byKey, key, () => new Set<string>()).add(topic);
  }

  /** Adds to how a resource depends on an object: a child that is wanted may be read, too. */
  setObject(topic: string, key: string, added: Partial<Omit<ObjectDependency, 'kind'>>): void {
    const known = this.objectOf(topic, key);
    const {
      isWanted = known?.isWanted ?? false,
      paths,
      isUnsynced = known?.isUnsynced ?? false,
    } = added;
    const both = known?.paths === undefined ? paths : union(known.paths, paths);
    this.set(topic, key, { kind: 'object', isWanted, paths: both, isUnsynced });
  }

  /** The resources that depend on a topic. */
  of(topic: string): ReadonlyMap<string, Dependency> | undefined {
    return this.#byTopic.get(topic);
  }

  objectOf(topic: string, key: string): ObjectDependency | undefined {
    const dependency = this.#byTopic.get(topic)?.get(key);
    return dependency?.kind === 'object' ? dependency : undefined;
  }

  /** Does a resource depend on the topic, or has one until a moment ago? */
  isAlive(topic: string): boolean {
    return this.#byTopic.has(topic) || this.#lingering.has(topic);
  }

  /** A pass is over: of objects and selections the resource depends on these topics and no others any more. */
  retain(key: string, used: ReadonlySet<string>): void {
    this.#retain(key, used, isOfPasses);
  }

  /** The resource depends on these topics of kinds and no others any more. */
  retainKinds(key: string, used: ReadonlySet<string>): void {
    this.#retain(key, used, isOnKind);
  }

  /** What was begun for a topic ends after a while unless a resource depends on it by then. */
  linger(topic: string): void {
    if (this.#byTopic.has(topic)) return;
    this.#keep(topic);
    const end = this.#options.onUnused?.(topic);
    if (end === undefined) return;
    const ended = () => {
      this.#lingering.delete(topic);
      end();
    };
    this.#lingering.set(topic, this.#options.clock.after(lingerMs, ended));
  }

  stop(): void {
    for (const cancel of this.#lingering.values()) cancel();
    this.#lingering.clear();
  }

  #retain(
    key: string,
    used: ReadonlySet<string>,
    isMeant: (dependency: Dependency) => boolean,
  ): void {
    const topics = this.#byKey.get(key);
    if (topics === undefined) return;
    for (const topic of topics) {
      if (used.has(topic)) continue;
      const keys = this.#byTopic.get(topic);
      const dependency = keys?.get(key);
      if (dependency !== undefined && !isMeant(dependency)) continue;
      topics.delete(topic);
      keys?.delete(key);
      if (keys?.size !== 0) continue;
      this.#byTopic.delete(topic);
      this.linger(topic);
    }
    if (topics.size === 0) this.#byKey.delete(key);
  }

  #keep(topic: string): void {
    if (this.#lingering.size === 0) return;
    this.#lingering.get(topic)?.();
    this.#lingering.delete(topic);
  }
}

function isOnKind({ kind }: Dependency): boolean {
  return kind === 'kind';
}

function isOfPasses({ kind }: Dependency): boolean {
  return kind !== 'kind';
}

function union(
  known: readonly FieldPath[],
  added: readonly FieldPath[] | undefined,
): readonly FieldPath[] {
  const isKnown = added === undefined || added.every((path) => known.includes(path));
  return isKnown ? known : [...new Set([...known, ...added])];
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
