import type { Informer, Watcher } from '../../kube/roles.ts';
import type { Clock } from '../../util/clock.ts';
import { type Gvk, gvkKey } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { withDescendants } from './descendants.ts';
import { buildTree, type TreeNode } from './object-tree.ts';

export interface TreeFollowerOptions {
  readonly watcher: Watcher;
  readonly clock: Clock;
  /** Called some time after one or more changes. */
  readonly onTree: (tree: readonly TreeNode[]) => void;
}

/** Which kinds stand at the top, and which may come below them. */
export interface TreeKinds {
  readonly roots: readonly Gvk[];
  readonly children: readonly Gvk[];
}

interface Followed {
  readonly informer: Informer;
  readonly unsubscribe: () => void;
}

/** Changes within this time are shown together. */
const gatherMs = 40;

/** Follows resources and what is made of them, and tells the tree as it is after each burst of changes. */
export class TreeFollower {
  readonly #options: TreeFollowerOptions;
  readonly #followed = new Map<string, Followed>();
  #roots: readonly string[] = [];
  #cancel: (() => void) | undefined;

  constructor(options: TreeFollowerOptions) {
    this.#options = options;
  }

  /** Follows these kinds from now on, and no others. */
  follow({ roots, children }: TreeKinds): void {
    const wanted = new Map(
      withDescendants([...roots, ...children]).map((gvk) => [gvkKey(gvk), gvk]),
    );
    for (const [key, followed] of this.#followed) {
      if (wanted.has(key)) continue;
      this.#followed.delete(key);
      release(followed);
    }
    for (const [key, gvk] of wanted)
      if (!this.#followed.has(key)) this.#followed.set(key, this.#acquire(gvk));
    this.#roots = roots.map(gvkKey);
    this.#changed();
  }

  stop(): void {
    this.#cancel?.();
    for (const followed of this.#followed.values()) release(followed);
    this.#followed.clear();
  }

  #acquire(gvk: Gvk): Followed {
    const informer = this.#options.watcher.acquire({ gvk });
    return { informer, unsubscribe: informer.subscribe(() => this.#changed()) };
  }

  #changed(): void {
    this.#cancel ??= this.#options.clock.after(gatherMs, () => {
      this.#cancel = undefined;
      this.#options.onTree(this.#build());
    });
  }

  #build(): readonly TreeNode[] {
    const objects = new Map<string, readonly KubeObject[]>();
    for (const [key, { informer }] of this.#followed)
      objects.set(
        key,
        [...informer.list()].map(({ object }) => object),
      );
    const roots = this.#roots.flatMap((key) => objects.get(key) ?? []);
    return buildTree(roots, [...objects.values()].flat());
  }
}

function release({ informer, unsubscribe }: Followed): void {
  unsubscribe();
  informer.release();
}
