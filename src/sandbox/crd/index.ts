export { CrdController, type CrdControllerOptions } from './crd-controller.ts';
export { crdNames, crdRules } from './crd-rules.ts';
