import type { DefinitionOrigin } from '#runtime/desired-definition.ts';
import type {
  DefinitionSource,
  SourceListener,
  SourceManifest,
} from '#runtime/sources/definition-source.ts';

/** What a test says of a text; the rest is made up. */
export type ScriptedText = Partial<SourceManifest> & { readonly text: string };

/** A source that says what the test says, once it runs. */
export class ScriptedSource implements DefinitionSource {
  readonly name: string;
  #listener: SourceListener | undefined;

  constructor(name = 'scripted') {
    this.name = name;
  }

  /** By their refs. */
  tell(texts: Readonly<Record<string, string | ScriptedText>>): void {
    const reported = Object.entries(texts).map(([ref, said]): SourceManifest => {
      const given = typeof said === 'string' ? { text: said } : said;
      return { file: ref, origin: { source: 'configmap', ref }, sinceMs: 0, ...given };
    });
    this.#listener?.onManifests(reported);
  }

  covers({ ref }: DefinitionOrigin): boolean {
    return ref.startsWith(this.name);
  }

  fail(reason: string | undefined): void {
    this.#listener?.onError(reason);
  }

  run(listener: SourceListener, signal: AbortSignal): Promise<void> {
    this.#listener = listener;
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    );
  }
}
