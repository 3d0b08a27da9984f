import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { patienceMs } from '../../support/patience.ts';
import type { KubectlStep } from './kubectl-script.ts';

export interface KubectlRunnerOptions {
  readonly binary: string;
  readonly kubeconfig: string;
  /** What kubectl remembers of a server; one for each. */
  readonly cacheFolder: string;
}

/** What a command said, without what no two servers have in common. */
export interface KubectlOutcome {
  readonly code: number;
  readonly output: string;
}

/** Runs commands of kubectl against one server. */
export class KubectlRunner {
  readonly #options: KubectlRunnerOptions;

  constructor(options: KubectlRunnerOptions) {
    this.#options = options;
  }

  async run(step: KubectlStep): Promise<KubectlOutcome> {
    const { lines, during = [] } = step;
    const child = this.#spawn(step);
    // A command that fails before it reads is heard by its exit code.
    child.stdin.on('error', () => undefined).end(step.input ?? '');
    const ended = once(child, 'close');
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    if (lines !== undefined) {
      const deadlineMs = performance.now() + patienceMs;
      const seen = () => output.split('\n').length - 1;
      // The first line names the columns; each further one answers a command.
      for (let count = 2; count <= lines; count++) {
        while (seen() < count && performance.now() < deadlineMs) await delay(20);
        const next = during[count - 2];
        if (next !== undefined) await this.run({ run: next });
      }
      while (seen() < lines && performance.now() < deadlineMs) await delay(20);
      child.kill();
    }
    const [code] = await ended;
    return { code: code ?? 0, output: normalised(output) };
  }

  #spawn({ run, editor }: KubectlStep) {
    const { binary, kubeconfig, cacheFolder } = this.#options;
    const edit = editor === undefined ? {} : { KUBE_EDITOR: `sed -i '${editor}'` };
    return spawn(binary, ['--cache-dir', cacheFolder, ...wordsOf(run)], {
      env: { PATH: process.env.PATH, HOME: cacheFolder, KUBECONFIG: kubeconfig, ...edit },
      timeout: patienceMs,
    });
  }
}

/** Words by spaces, but for those in double quotes that begin a word. */
function wordsOf(command: string): readonly string[] {
  const words = command.match(/(?:[^\s"]*="[^"]*"|"[^"]*"(?=\s|$)|\S+)/g) ?? [];
  return words.map((word) =>
    /^"[^"]*"$/.test(word) ? word.slice(1, -1) : word.replace(/^(--[\w-]+=)"(.*)"$/, '$1$2'),
  );
}

const rules: readonly (readonly [pattern: RegExp, text: string])[] = [
  // Where the servers are.
  [/https?:\/\/127\.0\.0\.1:\d+(?:\/[\w-]+-of-a-test-plane)?/g, 'SERVER'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"?/g, 'TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, 'TIME'],
  [/(resourceVersion: |Resource Version: +)"?\d+"?/g, '$1N'],
  [/\b10\.(?:0|96)\.\d+\.\d+\b/g, 'ADDRESS'],
  [/(:|nodePort: )3\d{4}\b/g, '$1PORT'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, 'TOKEN'],
  [/\/(LIVE|MERGED)-\d+/g, '/$1'],
  [/\/tmp\/[^/\s]+\/(LIVE|MERGED)/g, '/$1'],
  [
    /\b(web|second|once|often)-[bcdfghjklmnpqrstvwxz2456789]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g,
    '$1-HASH-POD',
  ],
  [/\b(web|second)-[bcdfghjklmnpqrstvwxz2456789]{8,10}\b/g, '$1-HASH'],
  [/(pod-template-hash[=:] ?)[bcdfghjklmnpqrstvwxz2456789]{8,10}\b/g, '$1HASH'],
  // The clocks of two processes differ by a moment: an Event may be of the future.
  [/(?<=\s)(?:(?:\d+[smhdy]){1,2}|<invalid>)(?=\s|$)/g, 'AGE'],
  // Columns are as wide as their longest text.
  [/[ \t]+/g, ' '],
  [/ $/gm, ''],
];

function normalised(output: string): string {
  return rules.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), output);
}
