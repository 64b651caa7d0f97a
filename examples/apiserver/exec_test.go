package apiserver_test

import (
	"context"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	begin := time.Now()
	c := start(t, nil)
	t.Log("ready after", time.Since(begin))
	pods, err := c.client(t, c.admin()).CoreV1().Pods("default").List(context.Background(), metav1.ListOptions{})
	t.Log(len(pods.Items), err)
}
