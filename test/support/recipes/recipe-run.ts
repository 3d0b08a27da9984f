import { parseObjects } from '#dev/samples.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { SharedControlPlane } from '../control-plane/index.ts';
import type { HomeostatRuntime } from '../homeostat-runtime.ts';
import { patienceMs } from '../patience.ts';
import { validateCommand } from './homeostat-command.ts';
import { Kubectl, MissingObjectError } from './kubectl.ts';
import {
  applyDiff,
  type Block,
  type Correction,
  correctPage,
  type RecipePage,
} from './recipe-page.ts';
import {
  type Command,
  includesFields,
  matchesOutput,
  parseTranscript,
  shownLine,
} from './transcript.ts';

export interface RecipeRunOptions {
  readonly shared: SharedControlPlane;
  /** Runs the definitions of all pages, each in a file with the name of its page. */
  readonly runtime: HomeostatRuntime;
  readonly page: RecipePage;
  /** Write the outputs that differ into the page, instead of failing. @default false */
  readonly update?: boolean;
}

/** How long the runtime must send nothing before its harness is compared, in ms. */
const quietMs = 500;
/** Between looks at what is not as shown yet, in ms. */
const pollMs = 20;
/** How long an output may differ before it is written into the page, in ms. */
const updateAfterMs = 3_000;

/** Does what a page says, in its order, and compares what the page shows. */
export class RecipeRun {
  readonly #options: RecipeRunOptions;
  readonly #kubectl: Kubectl;
  readonly #corrections: Correction[] = [];
  /** The definition as it is saved, and as the runtime has it. */
  #saved: string;
  #running: string;

  constructor(options: RecipeRunOptions) {
    this.#options = options;
    const { shared, page } = options;
    this.#kubectl = new Kubectl({
      client: shared.client(),
      kubeconfig: shared.plane.kubeconfigPath(),
    });
    this.#saved = page.definition;
    this.#running = page.definition;
  }

  /** Applies the sample, takes all steps, makes the mistake, and deletes the sample. */
  async run(): Promise<void> {
    const { page } = this.#options;
    const sample = await this.#kubectl.apply(page.sample);
    try {
      for (const block of [...page.steps, ...page.mistake]) await this.#step(block);
    } finally {
      this.#saved = page.definition;
      this.#load();
      await this.#remove(sample);
    }
    if (this.#corrections.length > 0) correctPage(page.name, this.#corrections);
  }

  async #step(block: Block): Promise<void> {
    const { page } = this.#options;
    try {
      switch (block.language) {
        case 'diff':
          this.#saved = applyDiff(page.definition, block.text);
          return;
        case 'console':
          for (const command of parseTranscript(block.text)) await this.#command(command, block);
          return;
        case 'yaml':
          for (const object of parseObjects(block.text)) await this.#untilIncluded(object);
          return;
        default:
          throw new Error(`Expected a block that can be checked, found "${block.language}"`);
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`docs/recipes/${page.name}.md:${block.line}: ${reason}`, { cause: error });
    }
  }

  async #command(command: Command, block: Block): Promise<void> {
    const [program, verb] = command.words;
    if (program === 'homeostat' && verb === 'validate') {
      const lines = await validateCommand({ [`${this.#options.page.name}.yaml`]: this.#saved });
      if (!matchesOutput(lines, command.output)) this.#report({ command, block, lines });
      return;
    }
    this.#load();
    if (this.#kubectl.isLook(command)) {
      await this.#untilPrinted(command, block);
      return;
    }
    if (command.output.length > 0) throw new Error('Expected no output of a change');
    await this.#change(command);
  }

  /** A change of an object that the operator has not created yet is sent again. */
  async #change(command: Command): Promise<void> {
    let missing: MissingObjectError | undefined;
    const isDone = await this.#becomesTrue(async () => {
      try {
        await this.#kubectl.run(command);
        return true;
      } catch (error) {
        if (!(error instanceof MissingObjectError)) throw error;
        missing = error;
        return false;
      }
    });
    if (!isDone) throw missing;
  }

  /** Has the runtime read the definition as it is saved. */
  #load(): void {
    if (this.#running === this.#saved) return;
    const { runtime, page } = this.#options;
    runtime.write(`${page.name}.yaml`, this.#saved);
    this.#running = this.#saved;
  }

  async #untilPrinted(command: Command, block: Block): Promise<void> {
    // Events of the same second come in any order.
    const inOrder = command.words[1] !== 'events';
    let lines: readonly string[] = [];
    const isPrinted = await this.#becomesTrue(async () => {
      lines = await this.#kubectl.run(command);
      return matchesOutput(lines, command.output, { inOrder });
    });
    if (!isPrinted) this.#report({ command, block, lines });
  }

  /** Another output than the page shows. */
  #report({ command: { output, outputAt }, block, lines }: Difference): void {
    if (this.#options.update !== true)
      throw new Error(`Expected\n${output.join('\n')}\nfound\n${lines.join('\n')}\n`);
    const line = block.line + 1 + outputAt;
    this.#corrections.push({ line, count: output.length, lines: lines.map(shownLine) });
  }

  async #untilIncluded(shown: KubeObject): Promise<void> {
    const client = this.#options.shared.client();
    const path = await client.pathOf(shown);
    let object: KubeObject | undefined;
    const isIncluded = await this.#becomesTrue(async () => {
      object = await client.get(path);
      return includesFields(object, shown);
    });
    if (!isIncluded)
      throw new Error(`Expected the fields shown in ${JSON.stringify(object, undefined, 1)}`);
  }

  /** Looks when the runtime has come to rest, and again until it is so; false when it is time to give up. */
  async #becomesTrue(look: () => Promise<boolean>): Promise<boolean> {
    const { shared, update = false } = this.#options;
    await shared.audit.quiet(quietMs);
    const deadline = performance.now() + (update ? updateAfterMs : patienceMs);
    while (!(await look())) {
      if (performance.now() > deadline) return false;
      await shared.client().sleep(pollMs);
    }
    return true;
  }

  /** What was applied last first: the resource, then what it needs. */
  async #remove(sample: readonly KubeObject[]): Promise<void> {
    const client = this.#options.shared.client();
    for (const object of sample.toReversed()) {
      const path = await client.pathOf(object);
      await client.delete(path);
      // Namespaces are emptied by another controller, and no page uses one of another.
      if (object.kind !== 'Namespace') await client.untilGone(path);
    }
  }
}

interface Difference {
  readonly command: Command;
  readonly block: Block;
  readonly lines: readonly string[];
}
