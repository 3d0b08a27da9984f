import { builtinDocuments, patternProblem } from '../../compile/index.ts';
import { parseYaml } from '../../definition/index.ts';
import { createSandbox, type Sandbox } from '../../sandbox/index.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import { createSeededRandom } from '../seeded-random.ts';
import { SimulationClock } from '../simulation-clock.ts';

export interface Judgement {
  readonly isAccepted: boolean;
  /** The server's Status, or the object. Parsed when it is read. */
  readonly body: JsonObject;
}

/** A simulated API server that judges manifests. Only CRDs are stored. */
export class CheckServer {
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

  /** Would the server create the object? `path`: of its collection. */
  judge(path: string, object: unknown): Judgement {
    return this.#post(`${path}?dryRun=All&fieldValidation=Strict`, object);
  }

  /** Serves the kind of a CRD from now on. */
  install(crd: unknown): Judgement {
    return this.#post(crdPath, crd);
  }

  close(): void {
    this.#sandbox.stop();
    this.#clock.stop();
  }

  #post(path: string, body: unknown): Judgement {
    const headers = { 'content-type': 'application/json' };
    const answer = this.#sandbox.handle({
      method: 'POST',
      path,
      headers,
      body: JSON.stringify(body),
    });
    return {
      isAccepted: answer.status < 300,
      get body() {
        return JSON.parse(String(answer.body));
      },
    };
  }
}

/** The collection of CRDs. */
export const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
