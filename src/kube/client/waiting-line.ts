/** A place in a {@link WaitingLine}. */
export interface Place<T> {
  readonly value: T;
  next: Place<T> | undefined;
  previous: Place<T> | undefined;
  isWaiting: boolean;
}

/** First in, first out, and leaving from the middle at the same cost. */
export class WaitingLine<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The value that is taken next; undefined when the line is empty. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  join(value: T): Place<T> {
    const place: Place<T> = { value, next: undefined, previous: this.#last, isWaiting: true };
    if (this.#last === undefined) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    this.#size += 1;
    return place;
  }

  /** Takes the first out; undefined when nobody waits. */
  take(): T | undefined {
    const place = this.#first;
    if (place === undefined) return undefined;
    this.leave(place);
    return place.value;
  }

  /** Gives a place up. Doing so twice does nothing. */
  leave(place: Place<T>): void {
    if (!place.isWaiting) return;
    place.isWaiting = false;
    if (place.previous === undefined) this.#first = place.next;
    else place.previous.next = place.next;
    if (place.next === undefined) this.#last = place.previous;
    else place.next.previous = place.previous;
    this.#size -= 1;
  }
}
