import type { InformerQuery, InformerState, StoredObject, Watcher } from '../../kube/roles.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionSource, SourceListener, SourceText } from './definition-source.ts';

export interface InformerSourceOptions {
  readonly name: string;
  readonly cluster: Watcher;
  readonly query: InformerQuery;
  readonly covers: DefinitionSource['covers'];
  /** The texts in one object. Pure. */
  readonly textsOf: (object: KubeObject) => readonly SourceText[];
  /** Does a kind that is not served mean that there are no texts? Else it is a trouble. @default false */
  readonly mayLackKind?: boolean;
}

/** A source that is the objects of one informer. */
export function createInformerSource(options: InformerSourceOptions): DefinitionSource {
  return {
    name: options.name,
    covers: options.covers,
    run: (listener, signal) => new InformerSource(options, listener).run(signal),
  };
}

class InformerSource {
  readonly #options: InformerSourceOptions;
  readonly #listener: SourceListener;
  /** Texts of the objects as they are stored: an object that has not changed is not taken apart again. */
  #texts: ReadonlyMap<StoredObject, readonly SourceText[]> = new Map();
  /** It has been listed whole. */
  #isListed = false;
  #isTelling = false;
  #hasTrouble = false;

  constructor(options: InformerSourceOptions, listener: SourceListener) {
    this.#options = options;
    this.#listener = listener;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cluster, query } = this.#options;
    const informer = cluster.acquire(query);
    // A list brings many changes at once: they are told as one.
    const tellSoon = () => {
      if (!this.#isListed || this.#isTelling) return;
      this.#isTelling = true;
      queueMicrotask(() => {
        this.#isTelling = false;
        if (!signal.aborted) this.#tell(informer.list());
      });
    };
    const note = (state: InformerState) => {
      if (state.kind === 'synced') this.#isListed = true;
      this.#tellTrouble(state);
      tellSoon();
    };
    const stops = [informer.onState(note), informer.subscribe(tellSoon)];
    note(informer.state);
    await whenAborted(signal);
    for (const stop of stops) stop();
    informer.release();
  }

  #tell(objects: Iterable<StoredObject>): void {
    const texts = Array.from(objects, (stored): [StoredObject, readonly SourceText[]] => [
      stored,
      this.#texts.get(stored) ?? this.#options.textsOf(stored.object),
    ]);
    this.#texts = new Map(texts);
    this.#listener.onTexts(texts.flatMap(([, each]) => each));
  }

  #tellTrouble(state: InformerState): void {
    const { mayLackKind = false } = this.#options;
    const isTrouble = state.kind === 'failing';
    if (isTrouble && mayLackKind && !this.#isListed && state.error.code === 'kind-missing') {
      this.#listener.onTexts([]);
      return;
    }
    if (isTrouble) this.#listener.onTrouble(state.error.message);
    else if (this.#hasTrouble) this.#listener.onTrouble(undefined);
    this.#hasTrouble = isTrouble;
  }
}
