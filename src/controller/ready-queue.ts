import type { Priority } from './reconciler.ts';

/** Every so many picks one is taken from below, so that nothing starves. */
const fairnessInterval = 10;

/** With so many passes parked they go first: each holds what it has found. */
const parkedAtMost = 1_000;

/** In the order in which they are taken. A parked pass comes after what has not begun, and before what is less urgent than it. */
const levels = ['normal', 'normal-parked', 'low', 'low-parked'] as const;

type Level = (typeof levels)[number];

/**
 * The order of the keys that are ready: first in, first out within a level; a key is held once.
 * Adding a held key again can only raise it, which puts it behind the others of its new priority.
 */
export class ReadyQueue {
  readonly #lines: Record<Level, Fifo> = {
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

  /** Keys and parked passes. */
  get size(): number {
    return this.#levelOf.size;
  }

  /** How many of it have not begun. */
  sizeOf(priority: Priority): number {
    return this.#sizes[priority];
  }

  /** How many have begun and given way. */
  get parked(): number {
    return this.#sizes['normal-parked'] + this.#sizes['low-parked'];
  }

  add(key: string, priority: Priority): void {
    const held = this.#levelOf.get(key);
    if (held === priority || held === 'normal') return;
    if (held !== undefined) this.#sizes[held]--;
    this.#push(key, priority);
  }

  /** Holds a key whose pass has begun. */
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
    if (this.parked >= parkedAtMost) return ['normal-parked', 'low-parked'];
    const rounds = this.#picks / fairnessInterval;
    if (!Number.isInteger(rounds)) return levels;
    const [top, ...below] = levels;
    // They take turns in being first of those below.
    const first = rounds % below.length;
    return [...below.slice(first), ...below.slice(0, first), top];
  }

  #push(key: string, level: Level): void {
    this.#levelOf.set(key, level);
    this.#sizes[level]++;
    this.#lines[level].push(key);
  }

  #takeFrom(level: Level): string | undefined {
    for (;;) {
      const key = this.#lines[level].shift();
      if (key === undefined) return undefined;
      // A raised key leaves its old place behind: the entry no longer matches and is passed over.
      if (this.#levelOf.get(key) !== level) continue;
      this.#levelOf.delete(key);
      this.#sizes[level]--;
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
