/** Where `homeostat dev` says how to reach its API, and the other commands look for it; in the folder where it runs. */
export const defaultKubeconfig = '.homeostat/kubeconfig';
