/** Combines concurrent items into one call. Items added during a call go into the next one. */
export class CallBatcher<Item, Result> {
  #next: { readonly items: Set<Item>; readonly done: Promise<Result> } | undefined;
  #current: Promise<unknown> = Promise.resolve();

  /** Resolves with the result of the call that the item was part of. */
  add(item: Item, call: (items: readonly Item[]) => Promise<Result>): Promise<Result> {
    if (this.#next === undefined) {
      const items = new Set<Item>();
      const done = this.#current.then(() => {
        this.#next = undefined;
        return call([...items]);
      });
      this.#next = { items, done };
      // Only the callers of a failed call receive its error.
      this.#current = done.catch(() => undefined);
    }
    this.#next.items.add(item);
    return this.#next.done;
  }
}
