import type { Informer, Watcher } from '#kube/roles.ts';
import type { Clock } from '#util/clock.ts';
import { type Gvk, gvkKey } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { withDescendants } from '#util/object-tree/created-kinds.ts';
import { buildTree, type TreeNode } from '#util/object-tree/object-tree.ts';
import { hubLabel } from '#util/stored-names.ts';

export interface TreeWatcherOptions {
  readonly watcher: Watcher;
  readonly clock: Clock;
  /** Called some time after one or more changes. `rootKinds`: keys of the kinds at the top that are watched. */
  readonly onTree: (tree: readonly TreeNode[], rootKinds: ReadonlySet<string>) => void;
}

/** Kinds at the top of the tree, and kinds below them. */
export interface TreeKinds {
  readonly roots: readonly Gvk[];
  readonly children: readonly Gvk[];
  /** Kinds of objects whose resources are on the hub of this member: such an object is at the top. @default none */
  readonly placed?: readonly Gvk[];
}

interface WatchedKind {
  readonly informer: Informer;
  readonly unsubscribe: () => void;
}

/** Changes within this time are shown together. */
const debounceMs = 40;

/** Watches resources and the objects below them, and passes on the tree after each burst of changes. */
export class TreeWatcher {
  readonly #options: TreeWatcherOptions;
  readonly #followed = new Map<string, WatchedKind>();
  #roots: readonly string[] = [];
  #placed: readonly string[] = [];
  #cancel: (() => void) | undefined;

  constructor(options: TreeWatcherOptions) {
    this.#options = options;
  }

  /** Replaces the watched kinds. */
  watch({ roots, children, placed = [] }: TreeKinds): void {
    const wanted = new Map(
      withDescendants([...roots, ...children, ...placed]).map((gvk) => [gvkKey(gvk), gvk]),
    );
    for (const [key, followed] of this.#followed) {
      if (wanted.has(key)) continue;
      this.#followed.delete(key);
      release(followed);
    }
    for (const [key, gvk] of wanted)
      if (!this.#followed.has(key)) this.#followed.set(key, this.#acquire(gvk));
    this.#roots = roots.map(gvkKey);
    this.#placed = placed.map(gvkKey);
    this.#changed();
  }

  stop(): void {
    this.#cancel?.();
    for (const followed of this.#followed.values()) release(followed);
    this.#followed.clear();
  }

  #acquire(gvk: Gvk): WatchedKind {
    const informer = this.#options.watcher.acquire({ gvk });
    return { informer, unsubscribe: informer.subscribe(() => this.#changed()) };
  }

  #changed(): void {
    this.#cancel ??= this.#options.clock.after(debounceMs, () => {
      this.#cancel = undefined;
      this.#options.onTree(this.#build(), new Set([...this.#roots, ...this.#placed]));
    });
  }

  #build(): readonly TreeNode[] {
    const objects = new Map<string, readonly KubeObject[]>();
    for (const [key, { informer }] of this.#followed)
      objects.set(
        key,
        [...informer.list()].map(({ object }) => object),
      );
    const placed = this.#placed.flatMap((key) => (objects.get(key) ?? []).filter(isPlaced));
    const roots = [...this.#roots.flatMap((key) => objects.get(key) ?? []), ...placed];
    return buildTree(roots, [...objects.values()].flat());
  }
}

/** Has it a resource on a hub? */
function isPlaced({ metadata: { labels = {} } }: KubeObject): boolean {
  return labels[hubLabel] !== undefined;
}

function release({ informer, unsubscribe }: WatchedKind): void {
  unsubscribe();
  informer.release();
}
