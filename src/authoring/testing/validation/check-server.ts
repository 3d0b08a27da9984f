import { builtinDocuments, patternProblem } from '#compile';
import { parseYaml } from '#definition';
import { type CreateVerdict, createSandbox, type Sandbox } from '#sandbox';
import { createSeededRandom, SimulationClock } from '#simulation';
import type { JsonObject } from '#util/json.ts';

/** A simulated API server that judges manifests. Only CRDs and policies are stored. */
export class CheckServer {
  readonly #clock = new SimulationClock();
  readonly #sandbox: Sandbox;

  constructor() {
    const { kubernetesVersion, ...schemas } = builtinDocuments();
    this.#sandbox = createSandbox({
      clock: this.#clock,
      random: createSeededRandom(1),
      schemas,
      kubernetesVersion,
      patternProblem,
      parseYaml: (text) => parseYaml(text, 'kubectl'),
      runsPods: false,
      onInternalError: (error) => {
        throw error;
      },
    });
  }

  /** Would the server create the object? `path`: of its collection. */
  judge(path: string, object: JsonObject): CreateVerdict {
    return this.#sandbox.judgeCreate(path, object);
  }

  /** Serves the kind of a CRD from now on, unless the server rejects the CRD. */
  install(crd: unknown): void {
    this.#store(crdPath, crd);
  }

  /** Sets defaults from now on, unless the server rejects the policy: it would be rejected as an object of its definition, too. */
  enforce(policy: JsonObject): void {
    this.#store(
      `${policiesPath}/${String(policy.kind).toLowerCase().replace(/y$/, 'ie')}s`,
      policy,
    );
  }

  #store(path: string, object: unknown): void {
    const headers = { 'content-type': 'application/json' };
    this.#sandbox.handle({ method: 'POST', path, headers, body: JSON.stringify(object) });
  }

  close(): void {
    this.#sandbox.stop();
    this.#clock.stop();
  }
}

/** The collection of CRDs. */
export const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const policiesPath = '/apis/admissionregistration.k8s.io/v1';
