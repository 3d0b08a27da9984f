import type { Priority } from './reconciler.ts';

/** Every so many picks one is taken from below, so that nothing starves. */
const fairnessInterval = 10;

/**
 * The order of the keys that are ready: first in, first out within a priority; a key is held once.
 * Adding a held key again can only raise it, which puts it behind the others of its new priority.
 */
export class ReadyQueue {
  readonly #levels: Record<Priority, Fifo> = { normal: new Fifo(), low: new Fifo() };
  readonly #priorityOf = new Map<string, Priority>();
  #picks = 0;

  get size(): number {
    return this.#priorityOf.size;
  }

  sizeOf(priority: Priority): number {
    let size = 0;
    for (const held of this.#priorityOf.values()) if (held === priority) size++;
    return size;
  }

  add(key: string, priority: Priority): void {
    const held = this.#priorityOf.get(key);
    if (held === priority || held === 'normal') return;
    this.#priorityOf.set(key, priority);
    this.#levels[priority].push(key);
  }

  take(): string | undefined {
    this.#picks++;
    const fromBelow = this.#picks % fairnessInterval === 0;
    const order: readonly Priority[] = fromBelow ? ['low', 'normal'] : ['normal', 'low'];
    for (const priority of order) {
      const key = this.#takeFrom(priority);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  #takeFrom(priority: Priority): string | undefined {
    for (;;) {
      const key = this.#levels[priority].shift();
      if (key === undefined) return undefined;
      // A raised key leaves its old place behind: the entry no longer matches and is passed over.
      if (this.#priorityOf.get(key) !== priority) continue;
      this.#priorityOf.delete(key);
      return key;
    }
  }
}

/** A list with a moving head: `Array.shift` of ten thousand keys would move all of them each time. */
class Fifo {
  #items: string[] = [];
  #head = 0;

  push(item: string): void {
    this.#items.push(item);
  }

  shift(): string | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head++;
    if (this.#head === this.#items.length || this.#head > 1024) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
