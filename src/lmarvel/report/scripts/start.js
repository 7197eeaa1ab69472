"use strict";

Report(JSON.parse(Dom.byId("page-data").textContent));
