/** Who cannot reach the server at the moment. Shared by all informers of a cluster. */
export interface Reachability {
  /** Has anybody got no answer, and none since? */
  readonly isLost: boolean;
  /** `who` asked and got no answer of any kind. */
  lost(who: object): void;
  /** It answers `who` again: whoever else waits for it need not wait longer. */
  found(who: object): void;
  /** `who` has ended, which says nothing of the server. */
  left(who: object): void;
}

export interface ReachabilityOptions {
  /** Somebody got no answer, while nobody else was without: an outage has begun. */
  readonly onLost: () => void;
  /** Somebody who had got no answer has got one. */
  readonly onFound: () => void;
}

export function createReachability({ onLost, onFound }: ReachabilityOptions): Reachability {
  const cutOff = new Set<object>();
  return {
    get isLost() {
      return cutOff.size > 0;
    },
    lost(who) {
      const isNews = cutOff.size === 0;
      cutOff.add(who);
      if (isNews) onLost();
    },
    found(who) {
      if (cutOff.delete(who)) onFound();
    },
    left: (who) => void cutOff.delete(who),
  };
}
