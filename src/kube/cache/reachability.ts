/** Who reaches the server at the moment, and who does not. Shared by all informers of a cluster. */
export interface Reachability {
  /** Has anybody got no answer, and none since? */
  readonly isLost: boolean;
  /** `who` asked and got no answer of any kind. */
  lost(who: object): void;
  /** It answers `who` again: whoever else waits for it need not wait longer. */
  found(who: object): void;
  /** `who` has ended, which says nothing of the server. */
  left(who: object): void;
  /** The watch of `who` is open. */
  opened(who: object): void;
  /** It is so no more. Returns whether nobody's is. */
  closed(who: object): boolean;
  /** The server shows a state from before what it has told: everything has to be looked at again. */
  wentBack(): void;
}

export interface ReachabilityOptions {
  /** Somebody got no answer, while nobody else was without: an outage has begun. */
  readonly onLost: () => void;
  readonly onWentBack: () => void;
  /** Somebody who had got no answer has got one. */
  readonly onFound: () => void;
}

export function createReachability(options: ReachabilityOptions): Reachability {
  const { onLost, onFound, onWentBack } = options;
  const cutOff = new Set<object>();
  const watching = new Set<object>();
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
    opened: (who) => void watching.add(who),
    closed(who) {
      watching.delete(who);
      return watching.size === 0;
    },
    wentBack: onWentBack,
  };
}
