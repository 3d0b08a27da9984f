import { after, before } from 'node:test';
import { isRewriting } from './page-file.ts';
import { PageRunner } from './page-runner.ts';
import { Terminal } from './terminal.ts';

export interface ReaderOptions {
  /** The reader's cluster, asked for when the tests begin. @default none: `homeostat dev` has one of its own */
  readonly kubeconfig?: () => string;
}

/** Somebody who does what a page says, in a fresh folder; for the tests of one `describe`. */
export interface Reader {
  /** Only within tests and hooks. */
  readonly runner: PageRunner;
}

/** Called within a `describe`: everything starts before its tests, and nothing is left after them. */
export function useReader({ kubeconfig = () => '' }: ReaderOptions = {}): Reader {
  let runner: PageRunner | undefined;
  let terminal: Terminal | undefined;
  before(() => {
    terminal = new Terminal({ kubeconfig: kubeconfig() });
    runner = new PageRunner({ terminal, isRewriting: isRewriting() });
  });
  after(async () => {
    await runner?.stop();
    terminal?.clear();
  });
  return {
    get runner() {
      if (runner === undefined) throw new Error('Not started');
      return runner;
    },
  };
}
