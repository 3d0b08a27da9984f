/**
 * Who is interested in what: topics (an object, a value of an index) and the resources that look at them.
 * All that a resource registered goes with it.
 */
export class InterestTable<Detail> {
  readonly #byTopic = new Map<string, Map<string, Detail>>();
  readonly #byKey = new Map<string, Set<string>>();

  /** Registers a resource, or changes the detail of its interest. */
  set(topic: string, key: string, detail: Detail): void {
    entryOf(this.#byTopic, topic, () => new Map<string, Detail>()).set(key, detail);
    entryOf(this.#byKey, key, () => new Set<string>()).add(topic);
  }

  /** The resources that are interested in a topic. */
  of(topic: string): ReadonlyMap<string, Detail> | undefined {
    return this.#byTopic.get(topic);
  }

  topics(): Iterable<string> {
    return this.#byTopic.keys();
  }

  /** Drops what a resource does not use any more. Returns the topics that nobody is interested in now. */
  retain(key: string, used: ReadonlySet<string>): readonly string[] {
    const topics = this.#byKey.get(key);
    if (topics === undefined) return [];
    const orphaned: string[] = [];
    for (const topic of topics) {
      if (used.has(topic)) continue;
      topics.delete(topic);
      const keys = this.#byTopic.get(topic);
      keys?.delete(key);
      if (keys?.size !== 0) continue;
      this.#byTopic.delete(topic);
      orphaned.push(topic);
    }
    if (topics.size === 0) this.#byKey.delete(key);
    return orphaned;
  }
}

function entryOf<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
