import {
  type CheckResult,
  checkDefinitions,
  createManifestCheck,
  type DefinitionManifest,
  type ManifestCheck,
} from '../check/index.ts';
import { bundledSchemas, type SchemaSource } from '../compile/index.ts';
import { arrangeDiagnostics } from '../definition/index.ts';
import { CrdCheck } from './check-crd.ts';

/** Checks definitions without a cluster, and asks a simulated server about the CRDs of those that are valid. */
export class DefinitionValidator {
  readonly #schemas: SchemaSource = bundledSchemas();
  readonly #check: ManifestCheck = createManifestCheck(this.#schemas);
  readonly #crdCheck = new CrdCheck();

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
    const { accepted, diagnostics } = checkDefinitions(manifests, {
      schemas: this.#schemas,
      check,
    });
    const found = accepted.map((each) => ({ each, rejected: this.#crdCheck.check(each.located) }));
    return {
      accepted: found.filter(({ rejected }) => rejected.length === 0).map(({ each }) => each),
      diagnostics: arrangeDiagnostics([
        ...diagnostics,
        ...found.flatMap(({ rejected }) => rejected),
      ]),
    };
  }

  close(): void {
    this.#crdCheck.close();
  }
}
