import { loadBuiltinDescriptions, patternProblem } from '#compile';
import { parseYaml, printYaml } from '#definition';
import { createSandbox, type Sandbox } from '#sandbox';
import { type Clock, createSystemClock } from '#util/clock.ts';
import { createSystemRandom, type Random } from '#util/random.ts';
import { type Backend, parseLines } from './backend.ts';
import { sandboxSchemas } from './sandbox-schemas.ts';

export interface SandboxBackendOptions {
  /** @default the system's */
  readonly clock?: Clock;
  /** @default the system's */
  readonly random?: Random;
  /** @default true */
  readonly controllers?: boolean;
  /** The path before all paths, where it listens. @default none */
  readonly basePath?: string;
  /** @default a new one */
  readonly snapshot?: string;
  /** @default true */
  readonly runsPods?: boolean;
  /** Called with a failure of the sandbox itself. @default prints it */
  readonly onInternalError?: (error: unknown) => void;
}

function printError(error: unknown): void {
  process.stderr.write(`The sandbox failed: ${error instanceof Error ? error.stack : error}\n`);
}

/** A sandbox for tests; its own failures fail the test that sees them. */
export function createTestSandbox(options: SandboxBackendOptions = {}): Sandbox {
  const {
    clock = createSystemClock(),
    random = createSystemRandom(),
    controllers = true,
    basePath = '',
    snapshot,
    runsPods = true,
    onInternalError = printError,
  } = options;
  return createSandbox({
    ...(snapshot === undefined ? {} : { snapshot }),
    clock,
    random,
    controllers,
    runsPods,
    basePath,
    schemas: sandboxSchemas(),
    kubernetesVersion: 'v1.36.3',
    loadDescriptions: loadBuiltinDescriptions,
    patternProblem,
    parseYaml,
    printYaml,
    onInternalError,
  });
}

/** The sandbox in this process, without HTTP. */
export function sandboxBackend(sandbox: Sandbox = createTestSandbox()): Backend {
  return {
    name: 'sandbox',
    async request({ method, path, body = '', bytes, headers = {} }) {
      const binary = bytes === undefined ? {} : { bytes };
      const answer = sandbox.handle({ method, path, headers, body, ...binary });
      // A watch would never end; documents that take a moment come as streams of one piece.
      if (typeof answer.body !== 'string' && !path.startsWith('/openapi/'))
        throw new Error(`Expected no stream at ${path}`);
      let text = '';
      for await (const piece of typeof answer.body === 'string' ? [answer.body] : answer.body)
        text += piece;
      return { status: answer.status, headers: answer.headers, text };
    },
    async setWebhooks(areReachable) {
      sandbox.setWebhooksReachable(areReachable);
    },
    async watch(path, headers = {}) {
      const answer = sandbox.handle({ method: 'GET', path, headers, body: '' });
      const stream = typeof answer.body === 'string' ? only(answer.body) : answer.body;
      const lines = stream[Symbol.asyncIterator]();
      const events = parseLines({ [Symbol.asyncIterator]: () => lines });
      return {
        status: answer.status,
        events,
        async close() {
          await lines.return?.();
        },
      };
    },
  };
}

async function* only(text: string): AsyncGenerator<string> {
  yield `${text}\n`;
}
