import { builtinDocuments, patternProblem } from '../compile/index.ts';
import {
  type Diagnostic,
  type Finding,
  type LocatedDefinition,
  locate,
  parseYaml,
} from '../definition/index.ts';
import { createSandbox, type Sandbox } from '../sandbox/index.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '../util/json.ts';
import { createSeededRandom } from './seeded-random.ts';
import { SimulationClock } from './simulation-clock.ts';

/** Asks a simulated API server whether it would accept the CRDs of definitions. */
export class CrdCheck {
  readonly #clock = new SimulationClock();
  readonly #sandbox: Sandbox;

  constructor() {
    const { kubernetesVersion, ...schemas } = builtinDocuments();
    this.#sandbox = createSandbox({
      ...{ clock: this.#clock, random: createSeededRandom(1), schemas, kubernetesVersion },
      patternProblem,
      parseYaml: (text) => parseYaml(text) as Json,
      runsPods: false,
      onInternalError: (error) => {
        throw error;
      },
    });
  }

  /** What the server rejects in a definition's CRD, with the place in the definition. Empty for a definition of an existing kind. */
  check({ definition, source }: LocatedDefinition): readonly Diagnostic[] {
    const { kind } = definition;
    if (kind.source !== 'crd') return [];
    const { status, body } = this.#sandbox.handle({
      method: 'POST',
      path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(kind.crd),
    });
    if (status < 300) return [];
    return causesOf(JSON.parse(String(body))).map((cause) => {
      const path = pointerOf(cause.field);
      return locate({ code: 'invalid-crd', path, ...explained(cause.message) }, source);
    });
  }

  close(): void {
    this.#sandbox.stop();
    this.#clock.stop();
  }
}

interface Cause {
  /** Field of the CRD: `spec.names.kind`. */
  readonly field: string;
  readonly message: string;
}

function causesOf({ details, message }: JsonObject): readonly Cause[] {
  const causes = isJsonObject(details) && Array.isArray(details.causes) ? details.causes : [];
  const known = causes.filter(isJsonObject).map((cause) => ({
    field: String(cause.field ?? ''),
    message: String(cause.message ?? ''),
  }));
  return known.length > 0 ? known : [{ field: '', message: String(message) }];
}

/** The server's message without the value, which the file shows; a mistake in a CEL rule has its place in the rule. */
function explained(text: string): Pick<Finding, 'message' | 'at'> {
  const cel = /compilation failed: ERROR: <input>:(\d+):(\d+): (.*)/.exec(text);
  if (cel !== null) {
    const [, line, column, problem] = cel;
    const message = `The API server cannot compile this CEL expression: ${problem}`;
    return { message, ...(line === '1' && { at: Number(column) - 1 }) };
  }
  const reason = text.replace(/^(?:Invalid|Unsupported) value: (?:"(?:[^"\\]|\\.)*"|[^:]*): /, '');
  return { message: `The API server rejects this: ${reason}` };
}

/**
 * The place in the definition of a field of its CRD, whose `spec` is written in `spec.crd`. The server names the schema of the only version
 * `spec.validation`.
 */
function pointerOf(field: string): string {
  const steps = field
    .replace(/^spec\.validation\b/, 'spec.versions[0].schema')
    .replace(/^spec\b/, '')
    .split(/\.|\[|\]/)
    .filter((step) => step !== '');
  return steps.reduce(pointerTo, '/spec/crd');
}
