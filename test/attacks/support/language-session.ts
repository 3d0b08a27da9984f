import { PassThrough } from 'node:stream';
import { loadTestFiles } from '#cli/commands/test-files.ts';
import { serveLanguage } from '#lsp';
import { createSystemClock } from '#util/clock.ts';
import { LspClient } from '../../support/lsp/lsp-client.ts';

/** A session, and the files that it has read. */
export function startSession() {
  const input = new PassThrough();
  const output = new PassThrough();
  const broken: string[] = [];
  const read: string[] = [];
  const ended = serveLanguage(
    {
      input,
      output,
      clock: createSystemClock(),
      version: '1.2.3',
      checkAfterMs: 0,
      load: async (path) => {
        const files = await loadTestFiles(path);
        read.push(...files.map(({ file }) => file));
        return files;
      },
      onBrokenConnection: (reason) => broken.push(reason),
    },
    new AbortController().signal,
  );
  return { input, ended, broken, read, client: new LspClient(output, input) };
}

/** A test with such a field. */
export const testOf = (files: string) => `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: hostile }
spec:
  ${files}
  steps: [{ name: a, expect: [{ writes: 0 }] }]
`;
