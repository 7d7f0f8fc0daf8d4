{{- /*
The rules of a file, as metrics.alerts changes them: (list $ path). Selectors of metrics get the namespaces of the release, so that two
releases do not report each other's faults. Alerts that are off are left out; a threshold replaces the number that a single comparison has.
*/}}
{{- define "shutterfleet.rules" -}}
{{- $root := index . 0 -}}
{{- $m := $root.Values.metrics -}}
{{- $file := $root.Files.Get (index . 1) | fromYaml -}}
{{- $selector := "" -}}
{{- if $m.selectRelease }}{{ $selector = printf "namespace=~%q" (printf "%s|%s" $root.Release.Namespace (include "shutterfleet.workersNamespace" $root)) }}{{ end -}}
{{- $groups := list -}}
{{- range $group := $file.groups }}
{{- $rules := list -}}
{{- range $rule := $group.rules }}
{{- $own := dict -}}
{{- with $rule.alert }}{{ $own = get $m.alerts . | default dict }}{{ end -}}
{{- if $selector }}{{ $_ := set $rule "expr" (include "shutterfleet.selectRelease" (dict "expr" $rule.expr "selector" $selector)) }}{{ end -}}
{{- if hasKey $own "threshold" }}
{{- $comparison := "([<>=] )[0-9.]+" -}}
{{- if ne (len (regexFindAll $comparison $rule.expr -1)) 1 }}{{ fail (printf "metrics.alerts.%s.threshold: its expression does not compare with a single number, set expr instead" $rule.alert) }}{{ end -}}
{{- $_ := set $rule "expr" (regexReplaceAll $comparison $rule.expr (printf "${1}%v" $own.threshold)) -}}
{{- end -}}
{{- if ne (get $own "enabled" | toString) "false" }}
{{- if $rule.alert }}
{{- $_ := set $rule.annotations "runbook_url" (print $m.runbooksUrl $rule.annotations.runbook_url) -}}
{{- $_ = set $rule "labels" (merge (dict) ($rule.labels | default dict) $m.alertLabels) -}}
{{- end -}}
{{- $rules = append $rules (mergeOverwrite $rule (omit (deepCopy $own) "enabled" "threshold")) -}}
{{- end -}}
{{- end -}}
{{- $groups = append $groups (set $group "rules" $rules) -}}
{{- end -}}
{{- toYaml (dict "groups" $groups) -}}
{{- end }}

{{- /* An expression whose selectors of metrics and recorded series begin with `selector`: dict of expr, selector */}}
{{- define "shutterfleet.selectRelease" -}}
{{- $name := "\\b(shutterfleet[_:][a-zA-Z0-9_:]+|ALERTS)" -}}
{{- /* First all get braces, then the selector. */}}
{{- $braced := regexReplaceAll (printf "%s\\b([^{a-zA-Z0-9_:]|$)" $name) .expr "${1}{}${2}" -}}
{{- regexReplaceAll (printf "%s\\{" $name) $braced (printf "${1}{%s," .selector) | replace ",}" "}" -}}
{{- end }}

{{- /* Names of all alerts of the chart, separated by spaces. */}}
{{- define "shutterfleet.alertNames" -}}
{{- range $path, $_ := .Files.Glob "files/rules/*.yaml" }}
{{- range ($.Files.Get $path | fromYaml).groups }}{{ range .rules }}{{ with .alert }} {{ . }}{{ end }}{{ end }}{{ end }}
{{- end }}
{{- end }}

{{- /*
A dashboard whose uid, and those that it links to, contain the release and its namespace, as two with one uid replace each other in
Grafana; its variables have the addresses of console and runbooks: (list $ path)
*/}}
{{- define "shutterfleet.dashboard" -}}
{{- $root := index . 0 -}}
{{- $release := sha256sum (printf "%s/%s" $root.Release.Namespace $root.Release.Name) | trunc 8 -}}
{{- $text := regexReplaceAll "(\"uid\": \"|/d/)(shutterfleet-[a-z-]+)\"" ($root.Files.Get (index . 1)) (printf "${1}${2}-%s\"" $release) -}}
{{- $text = replace "\"query\": \"http://localhost:8080\"" (printf "\"query\": %s" (include "shutterfleet.publicUrl" $root | toJson)) $text -}}
{{- with $root.Values.metrics.runbooksUrl }}{{ $text = replace "\"query\": \"/\"" (printf "\"query\": %s" (toJson .)) $text }}{{ end -}}
{{- $text = replace "\"title\": \"Shutterfleet / " (printf "\"title\": \"Shutterfleet %s / " $root.Release.Name) $text -}}
{{- if $root.Values.metrics.selectRelease }}
{{- $namespaces := list $root.Release.Namespace (include "shutterfleet.workersNamespace" $root) -}}
{{- $text = regexReplaceAll "\"text\": \"All\",\\s*\"value\": \"\\$__all\"" $text (printf "\"text\": %s, \"value\": %s" (toJson $namespaces) (toJson $namespaces)) -}}
{{- end -}}
{{- $text -}}
{{- end }}
