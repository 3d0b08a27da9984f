import type { CheckedManifest, ManifestCheck } from '#check';
import { CheckServer } from '../check-server.ts';
import { AdmissionCheck } from './check-admission.ts';

/** A check with a simulated server, which lives until it is closed. */
export interface ClosableCheck {
  readonly check: ManifestCheck;
  close(): void;
}

/**
 * Adds the checks of expressions of `admission` to a check of manifests: a definition with an error in them is rejected. The simulated server
 * that compiles them is started with the first definition that has `admission`.
 */
export function withAdmissionChecks(check: ManifestCheck): ClosableCheck {
  let server: CheckServer | undefined;
  let admission: AdmissionCheck | undefined;
  const checkRules = () => {
    server ??= new CheckServer();
    admission ??= new AdmissionCheck(server);
    return admission;
  };
  return {
    check: (manifest) => {
      const checked = check(manifest);
      const has = checked.documents.some(({ located }) => located?.definition.admission);
      return has ? withRules(checked, checkRules()) : checked;
    },
    close: () => server?.close(),
  };
}

function withRules(checked: CheckedManifest, admission: AdmissionCheck): CheckedManifest {
  const documents = checked.documents.map((document) => {
    const { located, plan, ...rest } = document;
    if (located === undefined || plan === undefined) return document;
    const found = admission.check({ located, plan });
    const isValid = found.every(({ severity }) => severity === 'warning');
    const diagnostics = [...document.diagnostics, ...found];
    return { ...rest, located, ...(isValid && { plan }), diagnostics };
  });
  const before = new Set(checked.documents.flatMap(({ diagnostics }) => diagnostics));
  const added = documents.flatMap(({ diagnostics }) =>
    diagnostics.filter((each) => !before.has(each)),
  );
  return { ...checked, documents, diagnostics: [...checked.diagnostics, ...added] };
}
