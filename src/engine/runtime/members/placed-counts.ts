import { isPlaced } from '#definition';
import type { PlacedCount } from '#kube/roles.ts';
import type { DefinitionTask } from '../definitions/decide.ts';

/** Counts the objects that running definitions of the hub have in members. */
export class PlacedCounts {
  readonly #counts = new Map<string, PlacedCount>();
  #hasCounted = false;

  /** Adds a definition. Returns the function that removes it. */
  add(definition: string, countIn: PlacedCount): () => void {
    this.#counts.set(definition, countIn);
    this.#hasCounted = true;
    return () => {
      // A newer revision may count by now.
      if (this.#counts.get(definition) === countIn) this.#counts.delete(definition);
    };
  }

  /**
   * The sum over all definitions. Undefined: not known now.
   * @param tasks Of all definitions: one that is starting has not counted yet.
   */
  countIn(member: string, tasks: Iterable<DefinitionTask>): number | undefined {
    // After a start, what is there was recorded by an earlier process.
    if (!this.#hasCounted) return undefined;
    for (const task of tasks) if (!this.#isCounted(task)) return undefined;
    let sum = 0;
    for (const countIn of this.#counts.values()) {
      const count = countIn(member);
      if (count === undefined) return undefined;
      sum += count;
    }
    return sum;
  }

  #isCounted(task: DefinitionTask): boolean {
    if (task.kind !== 'run') return task.kind !== 'wait';
    const { name, children } = task.desired.located.definition;
    return this.#counts.has(name) || !children.some(isPlaced);
  }
}
