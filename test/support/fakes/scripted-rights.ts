import type { AccessRight, RightsWatcher } from '#kube/roles.ts';

/** Rights that come when the test says so. */
export class ScriptedRights implements RightsWatcher {
  readonly waiting = new Map<() => void, AccessRight>();

  /** What is waited for, in the order of asking. */
  get wanted(): readonly AccessRight[] {
    return [...this.waiting.values()];
  }

  onGranted(right: AccessRight, listener: () => void): () => void {
    const call = () => listener();
    this.waiting.set(call, right);
    return () => void this.waiting.delete(call);
  }

  /** All that is waited for is there. */
  grant(): void {
    const listeners = [...this.waiting.keys()];
    this.waiting.clear();
    for (const listener of listeners) listener();
  }
}
