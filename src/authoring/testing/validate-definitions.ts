import {
  type CheckResult,
  checkDefinitions,
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
} from '#check';
import { bundledSchemas, type SchemaSource } from '#compile';
import { arrangeDiagnostics } from '#definition';
import { AdmissionCheck } from './validation/admission/check-admission.ts';
import { checkChildren } from './validation/check-children.ts';
import { checkCrd } from './validation/check-crd.ts';
import { ObjectCheck } from './validation/check-object.ts';
import { CheckServer } from './validation/check-server.ts';

/** Checks definitions without a cluster, and asks a simulated server about the CRDs of those that are valid, their children and rules. */
export class DefinitionValidator {
  readonly #schemas: SchemaSource = bundledSchemas();
  readonly #check: ManifestCheck;
  #server: CheckServer | undefined;
  #objects: ObjectCheck | undefined;

  /** @param check with the schemas of the built-in kinds */
  constructor(check?: ManifestCheck) {
    this.#check = check ?? createManifestCheck(this.#schemas);
  }

  /**
   * Checks manifests that are used together. Does not throw for invalid ones.
   * @param onFile called before each file
   */
  validate(
    manifests: readonly DefinitionManifest[],
    onFile: (file: string) => void = () => undefined,
  ): CheckResult {
    const check: ManifestCheck = (manifest) => {
      onFile(manifest.file);
      return this.#check(manifest);
    };
    const options = { schemas: this.#schemas, check };
    const { accepted, diagnostics } = checkDefinitions(manifests, options);
    const server = this.#server ?? new CheckServer();
    this.#server = server;
    this.#objects ??= new ObjectCheck([]);
    const objects = this.#objects;
    const admission = new AdmissionCheck(server);
    const found = accepted.map((each) => {
      const inChildren = checkChildren(each, objects, diagnostics);
      const inRules = admission.check(each);
      return { each, rejected: [...checkCrd(each.located, server), ...inChildren, ...inRules] };
    });
    return {
      accepted: found.filter(({ rejected }) => rejected.length === 0).map(({ each }) => each),
      diagnostics: arrangeDiagnostics([
        ...diagnostics,
        ...found.flatMap(({ rejected }) => rejected),
      ]),
    };
  }

  close(): void {
    this.#server?.close();
    this.#objects?.close();
  }
}
