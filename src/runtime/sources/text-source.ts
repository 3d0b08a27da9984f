import { whenAborted } from '../../util/when-aborted.ts';
import type { DefinitionText } from '../definition-text.ts';
import type { DefinitionSource } from './definition-source.ts';

/** One text that never changes: standard input. */
export function createTextSource({ file, text }: DefinitionText): DefinitionSource {
  const origin = { source: 'directory', ref: file } as const;
  return {
    name: file,
    covers: (other) => other.source === origin.source && other.ref === origin.ref,
    async run(listener, signal) {
      listener.onTexts([{ file, text, origin, sinceMs: 0 }]);
      await whenAborted(signal);
    },
  };
}
