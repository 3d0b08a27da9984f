import type { LocatedDefinition } from '#definition';
import type { GroupKind } from '#util/gvk.ts';
import type { InstallProblem } from '../definitions/install-tasks.ts';
import { untilSchemaIsRead, waitsForSchema } from './defaults-delay.ts';
import type { InstallationOptions } from './installation-options.ts';

/** Whether the API server has read the schema of the kind for which a definition has defaults. */
export class SchemaReading {
  readonly #options: InstallationOptions;
  #isRead = false;
  /** The version of the kind for which the defaults were applied. Undefined: not by this process. */
  #version: string | undefined;

  constructor(options: InstallationOptions) {
    this.#options = options;
  }

  /**
   * Another version has another schema: until it is read, the policy stays as it is.
   * @param onWait called before it waits
   */
  async ofVersion(
    located: LocatedDefinition,
    onWait: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { version } = located.definition.kind.gvk;
    const isOther = this.#version !== undefined && this.#version !== version;
    if (isOther && this.#options.part === 'admission' && waitsForSchema(located, [])) {
      onWait();
      await this.untilRead(located, signal);
    }
    this.#version = version;
  }

  /** Whether the defaults must not be applied yet. @param known the kinds of the objects that exist or may exist */
  isAwaited(located: LocatedDefinition, known: readonly GroupKind[]): boolean {
    return this.#options.part === 'admission' && !this.#isRead && waitsForSchema(located, known);
  }

  /** Resolves when it is read. Rejects when the signal aborts. */
  async untilRead(located: LocatedDefinition, signal: AbortSignal): Promise<void> {
    await untilSchemaIsRead(located, this.#options, signal);
    this.#isRead = true;
  }
}

/** What is shown meanwhile. */
export function schemaWait({ definition: { kind } }: LocatedDefinition): InstallProblem {
  const message = `Defaults wait until the API server has read the schema of "${kind.gvk.kind}"`;
  return { message, isWaiting: true };
}
