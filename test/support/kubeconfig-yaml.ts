import { parseYaml } from '#definition';

/** How the command line parses kubeconfigs. */
export const kubeconfigYaml = { parseYaml: async (text: string) => parseYaml(text, 'kubectl') };
