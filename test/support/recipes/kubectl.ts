import { parseObjects } from '#dev/samples.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneClient } from '../control-plane/index.ts';
import { homeostatCommand } from './homeostat-command.ts';
import type { Command } from './transcript.ts';

export interface KubectlOptions {
  readonly client: PlaneClient;
  /** A file. */
  readonly kubeconfig: string;
}

/** Commands that show something, and print the same however often they run. */
const looks: ReadonlySet<string | undefined> = new Set(['get', 'events']);

/**
 * The commands of kubectl that recipes show. Those that only show something are run as the commands of Homeostat of the same name,
 * which print what kubectl prints. Those that change something send a request and print nothing.
 */
/** The object of a change does not exist (yet). */
export class MissingObjectError extends Error {}

export class Kubectl {
  readonly #options: KubectlOptions;

  constructor(options: KubectlOptions) {
    this.#options = options;
  }

  /** Does it change nothing, so that it may run again until it prints what is expected? */
  isLook({ words: [program, verb] }: Command): boolean {
    return program === 'homeostat' || looks.has(verb);
  }

  /** Runs a command and returns what it prints. @throws Error for a command that is not supported */
  async run({ words: [program, ...args], input }: Command): Promise<readonly string[]> {
    const [verb, ...rest] = args;
    if (program === 'homeostat' || looks.has(verb)) return this.#homeostat(args);
    if (program !== 'kubectl') throw new Error(`Expected kubectl or homeostat, found "${program}"`);
    await this.#change(verb, new Arguments(rest), input);
    return [];
  }

  async apply(text: string): Promise<readonly KubeObject[]> {
    const applied: KubeObject[] = [];
    for (const object of parseObjects(text)) applied.push(await this.#options.client.apply(object));
    return applied;
  }

  async #change(verb: string | undefined, args: Arguments, input: string): Promise<void> {
    switch (verb) {
      case 'apply':
        await this.apply(input);
        return;
      case 'create':
        await this.apply(
          `{ apiVersion: v1, kind: Namespace, metadata: { name: ${args.after('namespace')} } }`,
        );
        return;
      case 'annotate':
        return this.#patch(args, { metadata: { annotations: args.assignments() } });
      case 'label':
        return this.#patch(args, { metadata: { labels: args.assignments() } });
      case 'scale':
        return this.#patch(args, { spec: { replicas: Number(args.flag('--replicas')) } });
      case 'patch':
        return this.#patch(args, JSON.parse(args.flag('-p') ?? ''));
      case 'delete':
        return this.#options.client.delete(await this.#pathOf(args));
      default:
        throw new Error(`Expected a command that is supported, found "kubectl ${verb}"`);
    }
  }

  async #patch(args: Arguments, change: object): Promise<void> {
    const subresource = args.flag('--subresource');
    const path = await this.#pathOf(args);
    await this.#options.client.patch(
      subresource === undefined ? path : `${path}/${subresource}`,
      change,
    );
  }

  async #pathOf(args: Arguments): Promise<string> {
    const namespace = args.flag('-n');
    const lines = await this.#homeostat([
      'get',
      ...args.object(),
      ...(namespace === undefined ? [] : ['-n', namespace]),
      '-o',
      'json',
    ]);
    const [first = ''] = lines;
    if (!first.startsWith('{')) throw new MissingObjectError(first);
    return this.#options.client.pathOf(JSON.parse(lines.join('\n')));
  }

  async #homeostat(args: readonly string[]): Promise<readonly string[]> {
    const lines = await homeostatCommand([...args, '--kubeconfig', this.#options.kubeconfig]);
    return lines.map(kubectlMessage);
  }
}

/** What kubectl prints where Homeostat says it in other words. */
function kubectlMessage(line: string): string {
  return line.replace(
    /^No resources found in namespace "(.*)"$/,
    'No resources found in $1 namespace.',
  );
}

/** Flags without a value. */
const switches: ReadonlySet<string> = new Set(['--overwrite']);

/** Arguments of a command: an object (`TYPE NAME` or `TYPE/NAME`), flags with values, and assignments (`key=value`, `key-`). */
class Arguments {
  readonly #flags = new Map<string, string>();
  readonly #words: readonly string[];

  constructor(args: readonly string[]) {
    const words: string[] = [];
    const left = [...args];
    for (let word = left.shift(); word !== undefined; word = left.shift()) {
      if (switches.has(word)) continue;
      if (!word.startsWith('-')) words.push(word);
      else if (word.includes('=')) {
        const [name = '', value = ''] = word.split('=');
        this.#flags.set(name, value);
      } else this.#flags.set(word, left.shift() ?? '');
    }
    this.#words = words;
  }

  flag(name: string): string | undefined {
    return this.#flags.get(name);
  }

  object(): readonly string[] {
    const [first = '', second = ''] = this.#words;
    return first.includes('/') ? [first] : [first, second];
  }

  after(word: string): string {
    return this.#words[this.#words.indexOf(word) + 1] ?? '';
  }

  assignments(): Readonly<Record<string, string | null>> {
    const pairs = this.#words.slice(this.object().length).map((word): [string, string | null] => {
      const [, key = '', value = ''] = /^([^=]*)=(.*)$/.exec(word) ?? [];
      return key === '' ? [word.replace(/-$/, ''), null] : [key, value];
    });
    return Object.fromEntries(pairs);
  }
}
