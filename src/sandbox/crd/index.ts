export { CrdController, type CrdControllerOptions } from './crd-controller.ts';
export { crdRules } from './crd-rules.ts';
