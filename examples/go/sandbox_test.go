// Package sandbox tests a program that uses client-go, on the sandbox.
package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var config *rest.Config

// TestMain starts one sandbox for all tests of the package, as envtest does.
func TestMain(m *testing.M) {
	started, stop, err := startSandbox()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config = started
	code := m.Run()
	stop()
	os.Exit(code)
}

func startSandbox() (*rest.Config, func(), error) {
	folder, err := os.MkdirTemp("", "sandbox-")
	if err != nil {
		return nil, nil, err
	}
	kubeconfig := filepath.Join(folder, "kubeconfig")
	command := strings.Fields(os.Getenv("HOMEOSTAT"))
	if len(command) == 0 {
		command = []string{"homeostat"}
	}
	process := exec.Command(command[0], append(command[1:], "sandbox", "--write-kubeconfig", kubeconfig)...)
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := process.Start(); err != nil {
		return nil, nil, err
	}
	stop := func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		_ = process.Wait()
		_ = os.RemoveAll(folder)
	}
	// The first line is printed when the API accepts requests.
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		stop()
		return nil, nil, fmt.Errorf("the sandbox did not start: %q: %w", line, err)
	}
	loaded, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		stop()
		return nil, nil, err
	}
	return loaded, stop, nil
}

func TestPodsOfADeploymentBecomeReady(t *testing.T) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	replicas := int32(2)
	labels := map[string]string{"app": "web"}
	deployments := client.AppsV1().Deployments("default")
	_, err = deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		web, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && web.Status.ReadyReplicas == replicas, err
	})
	if err != nil {
		t.Fatal(err)
	}
	pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 2 {
		t.Errorf("Expected 2 Pods, found %d", len(pods.Items))
	}
}
