import type { OperatorDefinition } from '../definition/index.ts';
import {
  type DefinitionFinisherOptions,
  type Finisher,
  startFinisher,
} from './definition-finisher.ts';
import type { RecordedDefinition } from './definitions-on-record.ts';
import { kindIdOf } from './same-kind.ts';

export interface FinishersOptions
  extends Omit<DefinitionFinisherOptions, 'definition' | 'onDone' | 'isBroken' | 'isOfBefore'> {
  /** Called with the name of a definition when nothing waits for it any more. @default nobody is told */
  readonly onFinished?: (name: string) => void;
}

/** Of a definition that does not run. */
export type Unfinished = Pick<DefinitionFinisherOptions, 'definition' | 'isBroken' | 'isOfBefore'>;

/** Who brings deletions to their end while definitions are broken or gone: for each definition one, and one more for a kind of before. */
export class Finishers {
  readonly #options: FinishersOptions;
  /** By definition, and by kind where another one has its name. */
  readonly #running = new Map<string, Finisher>();
  /** Nothing waits for these any more. */
  readonly #finished = new WeakSet<OperatorDefinition | RecordedDefinition>();

  constructor(options: FinishersOptions) {
    this.#options = options;
  }

  /** Undefined: it is being seen to, or nothing waits for it. Else resolves when it has ended. */
  start({ definition, ...about }: Unfinished, signal: AbortSignal): Promise<void> | undefined {
    const { onFinished, ...shared } = this.#options;
    const { name } = definition;
    const id = about.isOfBefore ? ofBefore(definition) : name;
    if (this.#running.has(id) || this.#finished.has(definition)) return undefined;
    const onDone = () => {
      this.#finished.add(definition);
      if (!about.isOfBefore) onFinished?.(name);
    };
    const finisher = startFinisher({ ...shared, ...about, definition, onDone }, signal);
    this.#running.set(id, finisher);
    void finisher.ended.finally(() => {
      if (this.#running.get(id) === finisher) this.#running.delete(id);
    });
    return finisher.ended;
  }

  /** The definition is to run: resolves when nobody sees to it any more. */
  async stop(definition: OperatorDefinition): Promise<void> {
    const ids = [definition.name, ofBefore(definition)];
    await Promise.all(ids.map((id) => this.#running.get(id)?.stop()));
  }

  /** It has run: something may wait for it again. */
  reopen(definition: OperatorDefinition): void {
    this.#finished.delete(definition);
  }
}

/** By what a finisher is known while another kind has the definition's name. */
function ofBefore(definition: OperatorDefinition | RecordedDefinition): string {
  return `${definition.name} ${kindIdOf(definition)}`;
}
