import { found } from '../describe-value.ts';
import { fieldOf, mapAt, valueAt } from '../tree.ts';
import type { Rule } from './rule.ts';

const annotation = 'api-approved.kubernetes.io';

/** Groups of the Kubernetes community need an annotation that says who approved the API, or that nobody did. */
export const checkCrdApproval: Rule = function* (document) {
  const group = valueAt(document, '/spec/crd/group');
  if (typeof group !== 'string' || !/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)) return;
  const value = fieldOf(mapAt(document, '/spec/crd/metadata/annotations'), annotation);
  const hint = `Add "metadata: { annotations: { ${annotation}: <URL, or a text that starts with unapproved> } }" to the crd, or use a group of your own`;
  if (value === undefined || value === '') {
    const message = `Group "${group}" is protected: its CRDs need the annotation "${annotation}"`;
    yield { code: 'invalid-crd', path: '/spec/crd/group', message, hint };
  } else if (typeof value === 'string' && !isApproval(value)) {
    const path = `/spec/crd/metadata/annotations/${annotation}`;
    const message = `Expected a URL or a text that starts with "unapproved", found ${found(value)}`;
    yield { code: 'invalid-crd', path, message };
  }
};

function isApproval(value: string): boolean {
  return value.startsWith('unapproved') || (/^[a-z]+:\/\/[^/]/i.test(value) && URL.canParse(value));
}
