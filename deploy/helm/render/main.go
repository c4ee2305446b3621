// Renders the chart as Helm does, with its engine (text/template and sprig), for the tests. Helm itself is no package of Debian.
// It reads {"templates": {name: text}, "context": {...}} from standard input and writes {name: rendered}. What Helm adds to sprig
// is here as far as the chart uses it: include.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
)

type request struct {
	Templates map[string]string      `json:"templates"`
	Context   map[string]interface{} `json:"context"`
}

func main() {
	log.SetFlags(0)
	var in request
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		log.Fatal(err)
	}
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	// As in Helm: a chart sees nothing of the machine.
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	all.Funcs(functions)
	for name, text := range in.Templates {
		template.Must(all.New(name).Parse(text))
	}
	out := map[string]string{}
	for name := range in.Templates {
		if strings.HasSuffix(name, ".tpl") {
			continue
		}
		var text bytes.Buffer
		if err := all.ExecuteTemplate(&text, name, in.Context); err != nil {
			log.Fatal(err)
		}
		// Helm removes what a missing value leaves.
		out[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		log.Fatal(err)
	}
}
