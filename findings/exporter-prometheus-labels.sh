#!/usr/bin/env bash
# @opentelemetry/exporter-prometheus 0.301.0: two attributes whose names become the same label are written as two labels
# of that name, and Prometheus' own parser (github.com/prometheus/common v0.67.4) refuses the answer as a whole.
# A guess would be: the values are joined with ";", as the specification of OpenTelemetry says about Prometheus, or one
# of them is dropped.
# Seen on 2026-11-29: k8s.pod.name and k8s_pod_name give {k8s_pod_name="a",k8s_pod_name="b"}, without an error or
# warning, so that a scrape loses all metrics of the process, not only this one.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent @opentelemetry/exporter-prometheus@0.301.0 @opentelemetry/sdk-metrics@3.1.0 2>/dev/null
cat >write.mjs <<'JS'
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { AggregationTemporality, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
class Reader extends MetricReader {
  async onShutdown() {}
  async onForceFlush() {}
  selectAggregationTemporality() {
    return AggregationTemporality.CUMULATIVE;
  }
}
const reader = new Reader();
const meter = new MeterProvider({ readers: [reader] }).getMeter("test");
meter.createGauge("restarts").record(2, { "k8s.pod.name": "a", "k8s_pod_name": "b" });
const { resourceMetrics, errors } = await reader.collect();
console.error(`errors: ${errors.length}`);
console.log(new PrometheusSerializer().serialize(resourceMetrics));
JS
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func main() {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	_, err := parser.TextToMetricFamilies(os.Stdin)
	fmt.Println("parser:", err)
}
GO
go mod init probe >go.log 2>&1
go get github.com/prometheus/common@v0.67.4 >>go.log 2>&1
go mod tidy >>go.log 2>&1
node write.mjs >text 2>errors
{
  cat errors
  grep -o 'restarts{[^}]*' text
  go run . <text | sed 's/ on line.*//; s/line [0-9]*/line N/'
} | tee seen
diff seen - <<'EXPECTED'
errors: 0
restarts{k8s_pod_name="a",k8s_pod_name="b",otel_scope_name="test"
parser: text format parsing error in line N: duplicate label names for metric "restarts"
EXPECTED
