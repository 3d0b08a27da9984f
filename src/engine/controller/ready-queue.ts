import type { Priority } from './reconciler.ts';

/** Every tenth pick serves a lower level first, to avoid starvation. */
const fairnessInterval = 10;

/** At this number, parked passes are served first: each one holds memory. */
const maxParked = 1_000;

/** Levels in the order in which they are served. Parked passes come after keys of the same priority that have not started. */
const levels = ['normal', 'normal-parked', 'low', 'low-parked'] as const;

type Level = (typeof levels)[number];

/**
 * Orders ready keys: FIFO within a level, each key queued once. Adding a queued key again can only raise its level,
 * which moves it to the end of the new level.
 */
export class ReadyQueue {
  readonly #queues: Record<Level, Fifo> = {
    normal: new Fifo(),
    'normal-parked': new Fifo(),
    low: new Fifo(),
    'low-parked': new Fifo(),
  };
  readonly #sizes: Record<Level, number> = {
    normal: 0,
    'normal-parked': 0,
    low: 0,
    'low-parked': 0,
  };
  readonly #levelOf = new Map<string, Level>();
  #picks = 0;

  /** Number of queued keys, parked passes included. */
  get size(): number {
    return this.#levelOf.size;
  }

  /** Number of keys of this priority that have not started. */
  sizeOf(priority: Priority): number {
    return this.#sizes[priority];
  }

  /** Number of parked passes. */
  get parked(): number {
    return this.#sizes['normal-parked'] + this.#sizes['low-parked'];
  }

  add(key: string, priority: Priority): void {
    const held = this.#levelOf.get(key);
    if (held === priority || held === 'normal') return;
    if (held !== undefined) this.#sizes[held]--;
    this.#push(key, priority);
  }

  /** Queues a key whose pass has started and yielded. */
  park(key: string, priority: Priority): void {
    this.#push(key, `${priority}-parked`);
  }

  take(): string | undefined {
    this.#picks++;
    for (const level of this.#order()) {
      const key = this.#takeFrom(level);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  #order(): readonly Level[] {
    if (this.parked >= maxParked) return ['normal-parked', 'low-parked'];
    const rounds = this.#picks / fairnessInterval;
    if (!Number.isInteger(rounds)) return levels;
    const [top, ...below] = levels;
    // The lower levels take turns in being served first.
    const first = rounds % below.length;
    return [...below.slice(first), ...below.slice(0, first), top];
  }

  #push(key: string, level: Level): void {
    this.#levelOf.set(key, level);
    this.#sizes[level]++;
    this.#queues[level].push(key);
  }

  #takeFrom(level: Level): string | undefined {
    for (;;) {
      const key = this.#queues[level].shift();
      if (key === undefined) return undefined;
      // A raised key leaves an outdated entry in its old level: skip it.
      if (this.#levelOf.get(key) !== level) continue;
      this.#levelOf.delete(key);
      this.#sizes[level]--;
      return key;
    }
  }
}

/** A queue with a moving head: `Array.shift` would move all remaining keys each time. */
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
