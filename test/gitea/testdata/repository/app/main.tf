terraform {
  backend "local" {}
}

variable "release" {
  type = string
}

variable "url" {
  type = string
}

resource "terraform_data" "app" {
  input = "${var.release} ${var.url}"
}

output "seen" {
  value = terraform_data.app.output
}
